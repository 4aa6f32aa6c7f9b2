import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/DeviceUtils.cuh>  // shuffles
#include <ATen/cuda/detail/KernelUtils.h>
#include <c10/cuda/CUDACachingAllocator.h>

using at::cuda::detail::CUDA_NUM_THREADS;

template <typename T> C10_HOST_DEVICE C10_ALWAYS_INLINE T positive(T value) { return value > T(0) ? value : T(0); }
C10_DEVICE float least(float value) { return c10::cuda::compat::max(value, at::numeric_limits<float>::lower_bound()); }

C10_LAUNCH_BOUNDS_1(1024)
__global__ void relu_kernel(const float* x, float* y, int64_t n) {
    CUDA_KERNEL_LOOP(i, n) {
        float value = positive(least(x[i]));
        value = WARP_SHFL_XOR(WARP_SHFL_XOR(value, C10_WARP_SIZE / 2), C10_WARP_SIZE / 2);
        gpuAtomicAdd(&y[i], value);
    }
}

torch::Tensor relu_forward(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    const int64_t n = x.numel();
    relu_kernel<<<at::cuda::detail::GET_BLOCKS(n), CUDA_NUM_THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
relu = load_inline("relu", "torch::Tensor relu_forward(torch::Tensor x);", source, functions=["relu_forward"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return relu.relu_forward(x)
