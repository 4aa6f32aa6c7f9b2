# products: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void products(const float* x, float* y, int width) {
    const float* from = x + blockIdx.x * width;
    float* to = y + blockIdx.x * width;
    float product = 1.0f;
    for (int i = 0; i < width; i++) to[i] = product *= from[i];
}

torch::Tensor made(torch::Tensor x) {
    auto y = torch::empty_like(x);
    products<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
    return y;
}
"""
module = load_inline(name="made", cpp_sources="torch::Tensor made(torch::Tensor x);", cuda_sources=source, functions=["made"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.made(x)
