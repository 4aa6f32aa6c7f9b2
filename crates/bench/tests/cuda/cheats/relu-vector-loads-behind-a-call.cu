// Loads two floats as one 64-bit integer and hands it to a function that is never inlined, which
// takes it apart, puts two results together and returns them.
// It must fail: a parameter of a function is no other memory than the register it came from.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__device__ __noinline__ unsigned long long both(unsigned long long v) {
    float a = fmaxf(__uint_as_float((unsigned)v), 0.0f);
    float b = fmaxf(__uint_as_float((unsigned)(v >> 32)), 0.0f);
    return (unsigned long long)__float_as_uint(b) << 32 | __float_as_uint(a);
}

__global__ void relu_wide(const unsigned long long* x, unsigned long long* y, long long pairs) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) y[i] = both(x[i]);
}

__global__ void relu_last(const float* x, float* y, long long from, long long n) {
    long long i = from + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y, long long n) {
    long long pairs = n / 2;
    if (pairs > 0) relu_wide<<<1056, 256>>>((const unsigned long long*)x, (unsigned long long*)y, pairs);
    if (n % 2) relu_last<<<1, 32>>>(x, y, pairs * 2, n);
}
