# scaled: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void scale(const float* x, const float* w, float* y, int n, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f) * w[i % width];
}

torch::Tensor scaled(torch::Tensor x, torch::Tensor w) {
    auto y = torch::empty_like(x);
    const int n = x.numel(), width = w.numel();
    scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), n, width);
    return y;
}
"""
module = load_inline(
    name="scaled",
    cpp_sources="torch::Tensor scaled(torch::Tensor x, torch::Tensor w);",
    cuda_sources=source,
    functions=["scaled"],
)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return module.scaled(x, self.weight)
