import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void relu_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ output, size_t size) {
    const size_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < size) output[index] = input[index] > scalar_t(0) ? input[index] : scalar_t(0);
}

torch::Tensor relu_forward(torch::Tensor input) {
    auto output = torch::empty_like(input);
    const auto size = input.numel();
    const int threads = 1024;
    const int blocks = (size + threads - 1) / threads;
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "relu_forward", ([&] {
        relu_kernel<scalar_t><<<blocks, threads>>>(input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), size);
    }));
    return output;
}
"""
relu = load_inline("relu", "torch::Tensor relu_forward(torch::Tensor input);", source, functions=["relu_forward"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        if not x.is_contiguous():
            x = x.contiguous()
        assert x.is_cuda and x.dtype == torch.float32
        return relu.relu_forward(x)
