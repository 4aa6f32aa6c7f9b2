// Declares 68 KB of constant memory; the limit is 64.
// It must fail: it does not assemble.
// expect: not-compiled
#include <cuda_runtime.h>

__constant__ float table[17 * 1024];

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], table[i % (17 * 1024)]);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
