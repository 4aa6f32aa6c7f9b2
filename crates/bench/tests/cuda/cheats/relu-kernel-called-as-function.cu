// Calls the kernel like an ordinary function, without a launch.
// It must fail: no launch, no work.
// expect: refused, not-compiled, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu(x, y, n);
}
