// Adds to the counts without clearing them: one launch less.
// It must fail: the output is poisoned before every run.
// expect: wrong
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, long long n) {
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

extern "C" void solve(const int *x, int *counts, int n) { count<<<512, 256>>>(x, counts, n); }
