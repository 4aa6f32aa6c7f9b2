// Allocates a buffer of the output's size and copies it out: allocators often return the last
// answer.
// It must fail: new memory holds nothing of earlier runs, and inputs are fresh.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    float *old;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    cudaMalloc(&old, bytes);
    cudaMemcpyAsync(y, old, bytes, cudaMemcpyDeviceToDevice, 0);
    cudaFree(old);
}
