// Increments without atomics: most increments survive where numbers are spread.
// It must fail: some are lost.
// expect: wrong
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) counts[x[i]]++;
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<512, 256>>>(x, counts, n);
}
