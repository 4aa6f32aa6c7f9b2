// A whole program with main, without solve.
// It must fail: there is no solve to call.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>
#include <iostream>

__global__ void relu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

int main() {
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    relu<<<4, 256>>>(x, y, 1024);
    cudaDeviceSynchronize();
    std::cout << "PASSED" << std::endl;
    return 0;
}
