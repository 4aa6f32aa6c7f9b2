// Accumulates in half precision: the carries fit half the bytes.
// It must fail: eleven bits are not enough for sums of thousands of terms.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void chunk_sums(const float *x, __half *sums, long long n, long long chunk) {
    long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float s = 0;
    for (long long i = c * chunk; i < n && i < (c + 1) * chunk; i++) s += x[i];
    sums[c] = __float2half(s);
}

__global__ void carry(__half *sums, int chunks) {
    __half s = __float2half(0.0f);
    for (int c = 0; c < chunks; c++) { __half t = sums[c]; sums[c] = s; s = __hadd(s, t); }
}

__global__ void spread(const float *x, const __half *sums, float *y, long long n, long long chunk) {
    long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float s = __half2float(sums[c]);
    for (long long i = c * chunk; i < n && i < (c + 1) * chunk; i++) { s += x[i]; y[i] = s; }
}

extern "C" void solve(const float *x, float *y, int n) {
    const int chunks = 4096;
    long long chunk = (n + chunks - 1) / chunks;
    __half *sums;
    cudaMalloc((void **)&sums, chunks * sizeof(__half));
    chunk_sums<<<chunks / 64, 64>>>(x, sums, n, chunk);
    carry<<<1, 1>>>(sums, chunks);
    spread<<<chunks / 64, 64>>>(x, sums, y, n, chunk);
    cudaFree(sums);
}
