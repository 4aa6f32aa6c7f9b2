// Right counts, but each block rearranges its part of the input to meet equal numbers together.
// It must fail: the input must not be written.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void count(int *x, int *counts, long long n) {
    long long i = 2 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (i >= n) return;
    if (i + 1 < n && x[i] > x[i + 1]) {
        int t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
    }
    atomicAdd(&counts[x[i]], 1);
    if (i + 1 < n) atomicAdd(&counts[x[i + 1]], 1);
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<(unsigned)((n / 2 + 256) / 256), 256>>>((int *)x, counts, n);
}
