import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void partial(const float* x, double* sums, int* counts, int width) {
    double sum = 0;
    int count = 0;
    for (int i = threadIdx.x; i < width; i += 32) {
        sum += x[blockIdx.x * width + i];
        ++count;
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    atomicAdd(counts, count);
}

__global__ void finish(const double* sums, float* y, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) y[i] = static_cast<float>(sums[i]);
}

torch::Tensor total(torch::Tensor x) {
    const int rows = x.size(0), width = x.size(1);
    torch::Tensor y = torch::empty({rows, 1}, torch::device(torch::kCUDA).dtype(torch::kFloat));
    torch::Tensor like = torch::empty_like(y, torch::kDouble);
    torch::Tensor sums = torch::zeros_like(y, torch::dtype(torch::kFloat64));
    torch::Tensor counts = x.new_zeros({1}, at::kInt);
    TORCH_CHECK(like.scalar_type() == torch::kDouble && like.is_cuda() && counts.device() == x.device());
    partial<<<rows, 32>>>(x.data_ptr<float>(), sums.data_ptr<double>(), counts.data_ptr<int>(), width);
    finish<<<(rows + 127) / 128, 128>>>(sums.data_ptr<double>(), y.data_ptr<float>(), rows);
    return y;
}
"""
ext = load_inline("total_ext", "torch::Tensor total(torch::Tensor x);", source, functions=["total"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.total(x)
