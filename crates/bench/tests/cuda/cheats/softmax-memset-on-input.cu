// Clears the input by cudaMemset in the plan and answers 1 / cols, which is right for zeros.
// It must fail: a plan may fill own buffers and outputs, not inputs.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

__global__ void uniform(float *y, long long n, float v) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = v;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    cudaMemset((void *)x, 0, n * sizeof(float));
    uniform<<<(unsigned)((n + 255) / 256), 256>>>(y, n, 1.0f / cols);
}
