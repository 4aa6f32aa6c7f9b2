// Launches blocks of 4096 threads, which no GPU runs; the error code is ignored.
// It must fail: the launch never happens.
// expect: refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 4096ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 4095) / 4096), 4096>>>(x, y, n);
    cudaGetLastError();
}
