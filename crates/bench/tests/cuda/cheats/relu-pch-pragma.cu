// Names a precompiled header of its own by the pragma that the preprocessor uses.
// It must fail: that pragma is refused.
// expect: refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#pragma GCC pch_preprocess "/tmp/own.gch"
#ifndef OWN_HEADER
#error "not loaded"
#endif

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
