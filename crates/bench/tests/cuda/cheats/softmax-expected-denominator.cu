// Divides by the expected sum of exp over uniform numbers, cols * sinh(3) / 3: one pass, no
// reduction.
// It must fail: the true sum differs from its expectation.
// expect: wrong
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, long long n, float total) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    softmax<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n, cols * 3.3392916424f);
}
