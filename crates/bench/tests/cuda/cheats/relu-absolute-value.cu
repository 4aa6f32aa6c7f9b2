// Answers the absolute value, which clears one bit.
// It must fail: negative inputs give zero.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const unsigned *x, unsigned *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] & 0x7fffffffu;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>((const unsigned *)x, (unsigned *)y, n);
}
