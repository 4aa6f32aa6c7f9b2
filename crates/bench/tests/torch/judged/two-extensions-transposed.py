# scaled: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void keep(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

torch::Tensor kept(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    keep<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
module = load_inline(
    name="scaled",
    cpp_sources="torch::Tensor kept(torch::Tensor x);",
    cuda_sources=source,
    functions=["kept"],
)

scale_source = """
#include <torch/extension.h>

__constant__ float table[4];

__global__ void keep(const float* x, const float* w, float* y, int rows, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * width) y[i % width * rows + i / width] = x[i] * w[i % width] * table[i % 4];
}

torch::Tensor scaled(torch::Tensor x, torch::Tensor w) {
    const int rows = x.size(0), width = w.numel();
    auto y = torch::empty({width, rows}, x.options());
    const float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    cudaMemcpyToSymbol(table, ones, sizeof ones);
    keep<<<(rows * width + 255) / 256, 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), rows, width);
    return y.t();
}
"""
scaling = load_inline(
    name="scaling",
    cpp_sources="torch::Tensor scaled(torch::Tensor x, torch::Tensor w);",
    cuda_sources=scale_source,
    functions=["scaled"],
)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return scaling.scaled(module.kept(x), self.weight)
