// Copies a device variable to the host and launches by its value.
// It must fail: host code sees no data.
// expect: refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__device__ int mode = 1;

extern "C" void solve(const float *x, float *y, long long n) {
    int m = 1;
    cudaMemcpyFromSymbol(&m, mode, sizeof m);
    if (m == 1) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
