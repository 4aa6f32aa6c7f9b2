// Declares a device array of 2^40 bytes.
// It must fail: no module with it can be loaded.
// expect: not-compiled, crashed, refused
#include <cuda_runtime.h>

__device__ float endless[1ull << 38];

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = endless[i << 10] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
