// Writes 4 KB to a device variable of 4 bytes.
// It must fail: ranges of variables are checked too.
// expect: refused, wrong, crashed, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__device__ float small;
static float zeros[1024];

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    cudaMemcpyToSymbol(small, zeros, sizeof zeros);
}
