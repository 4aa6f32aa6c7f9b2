#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    atomicAdd(y, sum);
}

extern "C" void solve(const float* x, float* y, int n) {
    cudaMemset(y, 0, sizeof(float));
    sum_kernel<<<256, 256>>>(x, y, n);
}
