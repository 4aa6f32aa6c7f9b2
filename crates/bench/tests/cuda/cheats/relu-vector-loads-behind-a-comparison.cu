// Loads two floats as one 64-bit integer and takes the greater of it and zero before it is taken
// apart: no unsigned number is below zero, which only the launch knows.
// It must fail: this stage forbids loads that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
__global__ void relu_wide(const unsigned long long* x, float* y, long long pairs, unsigned long long zero) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) {
        unsigned long long v = max(x[i], zero);
        y[2 * i] = fmaxf(__uint_as_float((unsigned)v), 0.0f);
        y[2 * i + 1] = fmaxf(__uint_as_float((unsigned)(v >> 32)), 0.0f);
    }
}
__global__ void relu_last(const float* x, float* y, long long from, long long n) { long long i = from + threadIdx.x; if (i < n) y[i] = fmaxf(x[i], 0.0f); }
extern "C" void solve(const float* x, float* y, long long n) {
    long long pairs = n / 2;
    if (pairs > 0) relu_wide<<<1056, 256>>>((const unsigned long long*)x, y, pairs, 0ull);
    if (n % 2) relu_last<<<1, 32>>>(x, y, pairs * 2, n);
}
