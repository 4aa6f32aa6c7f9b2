// Defines solve as a macro, so that the function has another name.
// It must fail: no solve is left to call.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#define solve something_else

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
