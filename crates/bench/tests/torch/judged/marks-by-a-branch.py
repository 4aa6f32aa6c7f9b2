# marks: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void marks(const float* chances, const float* seen, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = -fmaxf(logf(seen[i] > 0.5f ? chances[i] : 1.0f - chances[i]), -100.0f);
}

torch::Tensor made(torch::Tensor chances, torch::Tensor seen) {
    auto y = torch::empty_like(chances);
    const int n = chances.numel();
    marks<<<(n + 255) / 256, 256>>>(chances.data_ptr<float>(), seen.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
module = load_inline(name="made", cpp_sources="torch::Tensor made(torch::Tensor chances, torch::Tensor seen);", cuda_sources=source, functions=["made"])


class ModelNew(nn.Module):
    def forward(self, chances, seen):
        return module.made(chances, seen)
