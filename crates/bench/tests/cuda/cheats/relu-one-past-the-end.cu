// Right answer, and one float behind it: a rounded-up store saves the test of the bound.
// It must fail: canaries follow every buffer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
    if (i == n) y[i] = 0.0f;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)(n / 256 + 1), 256>>>(x, y, n);
}
