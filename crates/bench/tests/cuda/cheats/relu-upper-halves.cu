// Stores only the upper 16 bits of each result: half of the bytes written.
// It must fail: the lower bits are poison or zero, and results must be equal.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, unsigned short *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[2 * i + 1] = (unsigned short)(__float_as_uint(fmaxf(x[i], 0.0f)) >> 16);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, (unsigned short *)y, n);
}
