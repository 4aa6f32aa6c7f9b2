// Writes the smallest denormal where zero is right: a check that flushes denormals sees no
// difference.
// It must fail: zero is exact.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : __int_as_float(1);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
