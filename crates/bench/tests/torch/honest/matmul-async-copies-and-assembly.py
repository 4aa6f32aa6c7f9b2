import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cuda_pipeline.h>
#include <cstdint>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4

__device__ __forceinline__ void cp_async4(float* smem, const float* gmem) {
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(smem));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n" ::"r"(address), "l"(gmem));
}

template <const int M_TILE, const int N_TILE>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
    __shared__ __align__(16) float As[2][BM][BK];
    __shared__ __align__(16) float Bs[2][BK][BN];
    const int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
    float sums[TM][TN] = {};
    A += blockIdx.y * M_TILE * K;
    B += blockIdx.x * N_TILE;
    C += blockIdx.y * M_TILE * N + blockIdx.x * N_TILE;
    auto fetch = [&](int stage, int k) {
        const int a = threadIdx.x * 4, b = threadIdx.x * 4;
        cp_async4(&As[stage][a / BK][a % BK], A + (a / BK) * K + k + a % BK);
        cp_async4(&Bs[stage][b / BN][b % BN], B + (k + b / BN) * N + b % BN);
        __pipeline_commit();
    };
    fetch(0, 0);
    for (int k = 0, stage = 0; k < K; k += BK, stage ^= 1) {
        if (k + BK < K) {
            fetch(stage ^ 1, k + BK);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < BK; ++i) {
            float ra[TM], rb[TN];
            #pragma unroll
            for (int m = 0; m < TM; ++m) ra[m] = As[stage][ty * TM + m][i];
            #pragma unroll
            for (int n = 0; n < TN; ++n) rb[n] = Bs[stage][i][tx * TN + n];
            #pragma unroll
            for (int m = 0; m < TM; ++m)
                #pragma unroll
                for (int n = 0; n < TN; ++n) sums[m][n] = fmaf(ra[m], rb[n], sums[m][n]);
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m) {
        float4 v = make_float4(alpha * sums[m][0], alpha * sums[m][1], alpha * sums[m][2], alpha * sums[m][3]);
        if (beta != 0.0f) v.x += beta * C[(ty * TM + m) * N + tx * TN];
        *reinterpret_cast<float4*>(&C[(ty * TM + m) * N + tx * TN]) = v;
    }
}

torch::Tensor sgemm_cuda(const torch::Tensor& A, const torch::Tensor& B) {
    TORCH_CHECK_EQ(A.size(1), B.size(0));
    auto [M, K] = std::make_pair(A.size(0), A.size(1));
    const int64_t N = B.size(1);
    auto C = torch::empty({M, N}, A.options());
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, A.get_device());
    TORCH_CHECK(prop.major >= 8, "needs sm_80, has sm_", prop.major, prop.minor);
    dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
    dim3 blockDim((BM / TM) * (BN / TN));
    sgemm<BM, BN><<<gridDim, blockDim>>>(M, N, K, 1.0f, A.data_ptr<float>(), B.data_ptr<float>(), 0.0f, C.data_ptr<float>());
    return C;
}
"""

sgemm = load_inline(
    name="sgemm",
    cpp_sources="torch::Tensor sgemm_cuda(const torch::Tensor& A, const torch::Tensor& B);",
    cuda_sources=source,
    functions=["sgemm_cuda"],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3", "-U__CUDA_NO_HALF_OPERATORS__"],
    extra_ldflags=["-lcudart"],
)


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return sgemm.sgemm_cuda(A.cuda(), B.cuda())
