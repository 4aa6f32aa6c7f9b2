// Uploads a once, for the first problem, and keeps it in a device variable for all others.
// It must fail: every problem has its own a.
// expect: wrong
#include <cuda_runtime.h>

__device__ float factor;
__device__ int have;

__global__ void keep(float a) {
    if (!have) factor = a;
    have = 1;
}

__global__ void saxpy(const float *x, const float *y, float *z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) z[i] = factor * x[i] + y[i];
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    keep<<<1, 1>>>(a);
    saxpy<<<(unsigned)((n + 255) / 256), 256>>>(x, y, z, n);
}
