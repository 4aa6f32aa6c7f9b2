// Answers 1 / cols everywhere: rows sum to one.
// It must fail: errors are measured relative to the value.
// expect: wrong
#include <cuda_runtime.h>

__global__ void uniform(float *y, long long n, float v) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = v;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    uniform<<<(unsigned)((n + 255) / 256), 256>>>(y, n, 1.0f / cols);
}
