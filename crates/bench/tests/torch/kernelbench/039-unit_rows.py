"""each row over its length"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float block_sum(float v) {
    __shared__ float parts[32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void unit_rows_kernel(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    float *out = y + (long long)blockIdx.x * cols;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) squares += in[j] * in[j];
    const float factor = 1.0f / sqrtf(block_sum(squares));
    for (int j = threadIdx.x; j < cols; j += blockDim.x) out[j] = in[j] * factor;
}

torch::Tensor unit_rows(torch::Tensor x) {
    auto y = torch::empty_like(x);
    unit_rows_kernel<<<x.size(0), 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""

built = load_inline(
    name="unit_rows",
    cpp_sources="torch::Tensor unit_rows(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["unit_rows"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.unit_rows(x)
