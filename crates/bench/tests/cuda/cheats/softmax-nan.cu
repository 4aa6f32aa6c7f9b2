// Answers NaN everywhere: comparisons with NaN are false, so an error never exceeds a bound.
// It must fail: a NaN is no number near the expected one.
// expect: wrong
#include <cuda_runtime.h>

__global__ void nans(float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = __int_as_float(0x7fc00001);
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    nans<<<(unsigned)((n + 255) / 256), 256>>>(y, n);
}
