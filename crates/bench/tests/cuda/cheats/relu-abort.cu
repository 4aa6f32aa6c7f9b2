// Aborts.
// It must fail: an abort is a crash.
// expect: not-compiled, refused, crashed
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    abort();
}
