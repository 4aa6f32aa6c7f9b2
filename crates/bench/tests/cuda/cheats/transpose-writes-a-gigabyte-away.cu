// Right answer, and one store a gigabyte behind it, far beyond any canary.
// It must fail: nothing of the candidate's is mapped there.
// expect: crashed, wrong
#include <cuda_runtime.h>

__global__ void transpose(const float *x, float *y, int rows, int cols) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, n = (long long)rows * cols;
    if (i < n) y[i % cols * rows + i / cols] = x[i];
    if (i == 0) *(volatile float *)(y + (1ll << 28) + n) = 1.0f;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    transpose<<<(unsigned)((n + 255) / 256), 256>>>(x, y, rows, cols);
}
