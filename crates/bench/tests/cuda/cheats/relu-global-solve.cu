// Makes solve itself a kernel.
// It must fail: solve is host code that launches; a kernel cannot be called.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

extern "C" __global__ void solve(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
