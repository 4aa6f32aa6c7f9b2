// Allocates 2^64 - 1 bytes: sizes that wrap when rounded up or added.
// It must fail: sums of sizes are checked without overflow.
// expect: refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, float *scratch, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = scratch[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *scratch;
    cudaMalloc(&scratch, ~(size_t)0);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, scratch, n);
}
