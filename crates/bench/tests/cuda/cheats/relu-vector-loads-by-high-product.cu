// Takes the upper half of a 64-bit integer by the high half of a product with 2^32, and the lower
// half by what is left; puts two results together by a product and a sum.
// It must fail: this stage forbids loads that are wider than an element, however they are taken
// apart.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu_wide(const unsigned long long* x, unsigned long long* y, long long pairs, unsigned long long up) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) {
        unsigned long long v = x[i];
        unsigned long long high = __umul64hi(v, up), low = v - high * up;
        float a = fmaxf(__uint_as_float((unsigned)low), 0.0f);
        float b = fmaxf(__uint_as_float((unsigned)high), 0.0f);
        y[i] = (unsigned long long)__float_as_uint(b) * up + __float_as_uint(a);
    }
}

__global__ void relu_last(const float* x, float* y, long long from, long long n) {
    long long i = from + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y, long long n) {
    long long pairs = n / 2;
    if (pairs > 0) relu_wide<<<1056, 256>>>((const unsigned long long*)x, (unsigned long long*)y, pairs, 1ull << 32);
    if (n % 2) relu_last<<<1, 32>>>(x, y, pairs * 2, n);
}
