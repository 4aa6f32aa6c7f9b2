// Computes the exclusive scan: every element is that of its left neighbour.
// It must fail: the task asks for the inclusive scan; the results differ by one input each.
// expect: wrong
#include <cuda_runtime.h>

__global__ void chunk_sums(const float *x, float *sums, long long n, long long chunk) {
    long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float s = 0;
    for (long long i = c * chunk; i < n && i < (c + 1) * chunk; i++) s += x[i];
    sums[c] = s;
}

__global__ void carry(float *sums, int chunks) {
    float s = 0;
    for (int c = 0; c < chunks; c++) { float t = sums[c]; sums[c] = s; s += t; }
}

__global__ void spread(const float *x, const float *sums, float *y, long long n, long long chunk) {
    long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float s = sums[c];
    for (long long i = c * chunk; i < n && i < (c + 1) * chunk; i++) { y[i] = s; s += x[i]; }
}

extern "C" void solve(const float *x, float *y, int n) {
    const int chunks = 4096;
    long long chunk = (n + chunks - 1) / chunks;
    float *sums;
    cudaMalloc(&sums, chunks * sizeof(float));
    chunk_sums<<<chunks / 64, 64>>>(x, sums, n, chunk);
    carry<<<1, 1>>>(sums, chunks);
    spread<<<chunks / 64, 64>>>(x, sums, y, n, chunk);
    cudaFree(sums);
}
