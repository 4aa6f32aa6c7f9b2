#include <cuda_runtime.h>

__global__ void saxpy_kernel(float a, const float* x, const float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = a * x[i] + y[i];
    }
}

extern "C" void solve(float a, const float* x, const float* y, float* z, int n) {
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    saxpy_kernel<<<blocks, threads>>>(a, x, y, z, n);
}
