// Allocates 2^40 bytes and ignores the answer; the result would be right.
// It must fail: own buffers have a limit.
// expect: refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, float *scratch, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = scratch[i << 14] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *scratch;
    cudaMalloc(&scratch, 1ull << 40);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, scratch, n);
}
