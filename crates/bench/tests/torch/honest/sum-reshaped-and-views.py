import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cub/block/block_reduce.cuh>

template <typename scalar_t, int kThreads>
__global__ void reduce(const scalar_t* __restrict__ in, scalar_t* __restrict__ out, int64_t inner) {
    using BlockReduce = cub::BlockReduce<scalar_t, kThreads>;
    __shared__ typename BlockReduce::TempStorage temp;
    scalar_t sum = 0;
    for (int64_t i = threadIdx.x; i < inner; i += kThreads) sum += in[blockIdx.x * inner + i];
    sum = BlockReduce(temp).Sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

at::Tensor sum_last(const at::Tensor& self, bool keepdim) {
    auto x = self.contiguous();
    auto shape = x.sizes().vec();
    const int64_t inner = shape.back();
    if (keepdim) shape.back() = 1; else shape.pop_back();
    auto out = at::zeros(shape, x.options());
    auto flat = x.view({-1, inner});
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_last", ([&] {
        reduce<scalar_t, 256><<<flat.size(0), 256>>>(flat.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), inner);
    }));
    return out;
}
"""
ops = load_inline(name="ops", cpp_sources="at::Tensor sum_last(const at::Tensor& self, bool keepdim);", cuda_sources=source, functions=["sum_last"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("unused", torch.zeros(1), persistent=False)

    def forward(self, x):
        if x.dim() == 1:
            x = x.unsqueeze(0)
        return ops.sum_last(x.view(-1, x.shape[-1]), True).view(*x.shape[:-1], 1)
