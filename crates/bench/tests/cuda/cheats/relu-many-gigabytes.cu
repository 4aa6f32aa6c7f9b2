// Allocates a hundred buffers of a gigabyte each; the result would be right.
// It must fail: the limit is one for all buffers together.
// expect: refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, float *scratch, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = scratch[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *scratch = nullptr;
    for (int i = 0; i < 100; i++) cudaMalloc(&scratch, 1ull << 30);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, scratch, n);
}
