// Includes /dev/zero, which has no end, and /dev/stdin, which may never answer.
// It must fail: the compilers read headers only.
// expect: not-compiled, timed-out, refused
#include "/dev/stdin"
#include "/dev/zero"
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
