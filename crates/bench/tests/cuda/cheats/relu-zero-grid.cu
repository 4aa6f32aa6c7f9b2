// Launches a grid without blocks, which real launches refuse without a word.
// It must fail: such a launch computes nothing.
// expect: refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<0, 256>>>(x, y, n); }
