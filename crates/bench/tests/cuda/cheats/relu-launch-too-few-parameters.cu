// Launches by an argument array that is one entry short.
// It must fail: the missing parameter is not the candidate's to read.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *args[] = {&x, &y};
    cudaLaunchKernel((const void *)relu, dim3((unsigned)((n + 255) / 256)), dim3(256), args, 0, 0);
}
