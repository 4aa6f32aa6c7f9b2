// Gives kernel and host function one name and one signature.
// It must fail: one of them hides the other.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

extern "C" __global__ void solve(const float *x, float *y, long long n);

extern "C" void solve(const float *x, float *y, long long n) { solve<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }

extern "C" __global__ void solve(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
