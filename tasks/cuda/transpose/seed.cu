#include <cuda_runtime.h>

__global__ void transpose_kernel(const float* x, float* y, int rows, int cols) {
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < (long long)rows * cols) {
        long long i = t / cols, j = t % cols;
        y[j * rows + i] = x[t];
    }
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
    int threads = 256;
    long long elements = (long long)rows * cols;
    int blocks = (int)((elements + threads - 1) / threads);
    transpose_kernel<<<blocks, threads>>>(x, y, rows, cols);
}
