// Reads four numbers at a time and forgets the rest: wrong by at most three of millions.
// It must fail: counts are exact, and hidden sizes leave a rest.
// expect: wrong
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n / 4; i += gridDim.x * 256ll) {
        int4 v = ((const int4 *)x)[i];
        atomicAdd(&counts[v.x], 1);
        atomicAdd(&counts[v.y], 1);
        atomicAdd(&counts[v.z], 1);
        atomicAdd(&counts[v.w], 1);
    }
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<512, 256>>>(x, counts, n);
}
