// A configuration is a structure that only host code names; its kernel is a template over it.
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda_pipeline.h>
#include <cassert>
template <int BM_, int BN_, int BK_, int TM_, int TN_> struct Config { static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_; static constexpr int threads = (BM / TM) * (BN / TN); };
template <class C> struct alignas(16) Smem { float a[C::BK][C::BM + 4]; float b[C::BK][C::BN]; };
template <class C> __global__ __launch_bounds__(C::threads, 2) void sgemm(int N, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta, float* __restrict__ Cm) {
  __shared__ Smem<C> s; float acc[C::TM][C::TN] = {}; 
  const int tx = threadIdx.x % (C::BN / C::TN), ty = threadIdx.x / (C::BN / C::TN);
  for (int k0 = 0; k0 < N; k0 += C::BK) {
    for (int i = threadIdx.x; i < C::BM * C::BK; i += C::threads) { int r = i / C::BK, c = i % C::BK; int gr = blockIdx.y * C::BM + r, gc = k0 + c; s.a[c][r] = gr < N && gc < N ? A[(size_t)gr * N + gc] : 0.f; }
    for (int i = threadIdx.x; i < C::BN * C::BK; i += C::threads) { int r = i / C::BN, c = i % C::BN; int gr = k0 + r, gc = blockIdx.x * C::BN + c; s.b[r][c] = gr < N && gc < N ? __ldg(&B[(size_t)gr * N + gc]) : 0.f; }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < C::BK; ++k) { float ra[C::TM], rb[C::TN];
      #pragma unroll
      for (int i = 0; i < C::TM; ++i) ra[i] = s.a[k][ty * C::TM + i];
      #pragma unroll
      for (int j = 0; j < C::TN; ++j) rb[j] = s.b[k][tx * C::TN + j];
      #pragma unroll
      for (int i = 0; i < C::TM; ++i)
        #pragma unroll
        for (int j = 0; j < C::TN; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]); }
    __syncthreads();
  }
  for (int i = 0; i < C::TM; ++i) for (int j = 0; j < C::TN; ++j) { int r = blockIdx.y * C::BM + ty * C::TM + i, c = blockIdx.x * C::BN + tx * C::TN + j; if (r < N && c < N) Cm[(size_t)r * N + c] = alpha * acc[i][j] + (beta != 0.f ? beta * Cm[(size_t)r * N + c] : 0.f); }
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
  using Cfg = Config<128, 128, 8, 8, 8>; assert(N > 0);
  const dim3 grid((N + Cfg::BN - 1) / Cfg::BN, (N + Cfg::BM - 1) / Cfg::BM);
  sgemm<Cfg><<<grid, Cfg::threads>>>(N, 1.0f, A, B, 0.0f, C);
}
