// Computes for the size that the prompt names and does nothing for others.
// It must fail: hidden sizes are judged before.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (n == 16777216) relu<<<65536, 256>>>(x, y);
}
