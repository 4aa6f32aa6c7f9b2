# moved: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void moved(const float* x, const float* offsets, float* y, int width) {
    float sum = 0.0f;
    for (int i = 0; i < width; i++) sum += x[blockIdx.x * width + i] + offsets[i];
    y[blockIdx.x] = sum;
}

torch::Tensor made(torch::Tensor x, torch::Tensor offsets) {
    auto y = torch::empty({x.size(0)}, x.options());
    moved<<<x.size(0), 1>>>(x.data_ptr<float>(), offsets.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
    return y;
}
"""
module = load_inline(name="made", cpp_sources="torch::Tensor made(torch::Tensor x, torch::Tensor offsets);", cuda_sources=source, functions=["made"])


class ModelNew(nn.Module):
    def forward(self, x, offsets):
        return module.made(x, offsets)
