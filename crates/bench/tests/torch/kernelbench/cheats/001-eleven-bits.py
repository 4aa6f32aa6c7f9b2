# wrong: but should be
"""Factors with eleven bits, as tensor cores take them."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

#define TILE 32

__device__ float cut(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

__global__ void square_matmul_kernel(const float *A, const float *B, float *C, int n) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        As[threadIdx.y][threadIdx.x] = cut(A[(long long)row * n + t + threadIdx.x]);
        Bs[threadIdx.y][threadIdx.x] = cut(B[(long long)(t + threadIdx.y) * n + col]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[(long long)row * n + col] = sum;
}

torch::Tensor square_matmul(torch::Tensor a, torch::Tensor b) {
    const int n = a.size(0);
    TORCH_CHECK(n % TILE == 0, "whole tiles");
    auto c = torch::empty_like(a);
    square_matmul_kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
"""

built = load_inline(
    name="square_matmul",
    cpp_sources="torch::Tensor square_matmul(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["square_matmul"],
)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return built.square_matmul(a, b)
