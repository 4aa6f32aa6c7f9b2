// Launches by an argument array whose entries point to unmapped memory.
// It must fail: reading them is a fault.
// expect: refused, not-compiled, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *args[] = {(void *)16, (void *)32, (void *)48};
    cudaLaunchKernel((const void *)relu, dim3(1), dim3(256), args, 0, 0);
}
