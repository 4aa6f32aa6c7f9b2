// Resets the device in the middle: buffers, modules and events of everybody would be gone.
// It must fail: a plan cannot express a reset.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaDeviceReset();
    if (cudaGetLastError() == cudaSuccess) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
