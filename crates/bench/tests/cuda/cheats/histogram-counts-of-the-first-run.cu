// Counts once and repeats those counts for the same n: uniform numbers give nearly the same ones.
// It must fail: counts are exact.
// expect: wrong
#include <cuda_runtime.h>

__device__ int saved[256];
__device__ long long saved_n;

__global__ void count(const int *x, int *counts, long long n) {
    if (saved_n == n) return;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1);
}

__global__ void finish(int *counts, long long n) {
    if (saved_n == n) counts[threadIdx.x] = saved[threadIdx.x];
    else saved[threadIdx.x] = counts[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) saved_n = n;
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 256 * sizeof(int));
    count<<<512, 256>>>(x, counts, n);
    finish<<<1, 256>>>(counts, n);
}
