import torch
from torch import nn
from torch.utils import cpp_extension

cuda = r"""
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAException.h>
#include <torch/types.h>
#include <vector>

__device__ __forceinline__ float warp_max(float v) {
    for (int offset = 16; offset; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, offset));
    return v;
}
__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

__global__ void one_warp_a_row(const float* x, float* y, int64_t rows, int64_t width) {
    const int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float largest = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < width; i += 32) largest = fmaxf(largest, x[row * width + i]);
    largest = warp_max(largest);
    for (int64_t i = threadIdx.x; i < width; i += 32) sum += __expf(x[row * width + i] - largest);
    sum = warp_sum(sum);
    for (int64_t i = threadIdx.x; i < width; i += 32) y[row * width + i] = __expf(x[row * width + i] - largest) / sum;
}

at::Tensor softmax_forward(const at::Tensor& x) {
    const at::cuda::OptionalCUDAGuard guard(x.device());
    auto y = at::empty(x.sizes(), x.options());
    const auto rows = x.size(0), width = x.size(-1);
    auto stream = at::cuda::getCurrentCUDAStream();
    one_warp_a_row<<<(rows + 3) / 4, dim3(32, 4), 0, stream.stream()>>>(
        x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), rows, width);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

extension = cpp_extension.load_inline(
    "warps", "at::Tensor softmax_forward(const at::Tensor& x);", cuda, functions="softmax_forward"
)


class ModelNew(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return extension.softmax_forward(x)
