import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cub/cub.cuh>

template <int THREADS>
__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ y, int columns) {
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    float part = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) part += x[(int64_t)blockIdx.x * columns + i];
    const float sum = Reduce(storage).Sum(part);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

torch::Tensor sum(torch::Tensor x) {
    TORCH_CHECK(c10::multiply_integers(x.sizes()) == x.numel());
    auto y = torch::empty({x.size(0), 1}, x.options());
    sum_kernel<256><<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""
module = load_inline(
    "sum", "torch::Tensor sum(torch::Tensor x);", source, functions=["sum"], extra_cuda_cflags=["--extended-lambda"]
)


class ModelNew(nn.Module):
    def forward(self, x):
        return module.sum(x)
