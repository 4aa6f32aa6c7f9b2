// Writes the even elements; the odd ones keep what was there.
// It must fail: what was there is poison.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = 2 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n / 2 + 256) / 256), 256>>>(x, y, n);
}
