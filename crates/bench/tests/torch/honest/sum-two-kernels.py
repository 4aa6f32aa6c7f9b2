import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <algorithm>

namespace {
constexpr int kThreads = 256;

__global__ void partial(const float* x, float* parts, int width, int pieces) {
    __shared__ float sums[kThreads];
    float sum = 0;
    for (int i = blockIdx.y * kThreads + threadIdx.x; i < width; i += pieces * kThreads) sum += x[blockIdx.x * width + i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = kThreads / 2; step; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x * pieces + blockIdx.y] = sums[0];
}

__global__ void finish(const float* parts, float* y, int rows, int pieces) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < pieces; ++i) sum += parts[row * pieces + i];
    y[row] = sum;
}
}  // namespace

torch::Tensor row_sums(torch::Tensor x) {
    const int rows = x.size(0), width = x.size(1);
    const int pieces = std::min(8, (width + kThreads - 1) / kThreads);
    auto parts = torch::empty({rows, pieces}, x.options());
    auto y = torch::empty({rows, 1}, x.options());
    partial<<<dim3(rows, pieces), kThreads>>>(x.data_ptr<float>(), parts.data_ptr<float>(), width, pieces);
    finish<<<(rows + 127) / 128, 128>>>(parts.data_ptr<float>(), y.data_ptr<float>(), rows, pieces);
    return y;
}
"""
sums = load_inline("sums", "torch::Tensor row_sums(torch::Tensor x);", source, functions=["row_sums"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return sums.row_sums(x)
