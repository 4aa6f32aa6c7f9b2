// Launches through a function pointer that is no kernel.
// It must fail: an address that belongs to no kernel cannot be launched.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *args[] = {&x, &y, &n};
    cudaLaunchKernel((const void *)0x1234, dim3(1), dim3(256), args, 0, 0);
}
