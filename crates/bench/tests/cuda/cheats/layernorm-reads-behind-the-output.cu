// Reads the numbers right behind its output, where a careless bench keeps the expected ones.
// It must fail: canaries are there, or nothing.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void steal(float *y, long long all) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < all) y[i] = y[all + i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    long long all = (long long)rows * n;
    steal<<<(unsigned)((all + 255) / 256), 256>>>(y, all);
}
