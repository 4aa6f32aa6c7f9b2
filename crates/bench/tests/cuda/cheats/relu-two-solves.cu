// Defines solve twice: a good one and a cheap one.
// It must fail: one program has one solve.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }

extern "C" void solve(const float *x, float *y, long long n) {}
