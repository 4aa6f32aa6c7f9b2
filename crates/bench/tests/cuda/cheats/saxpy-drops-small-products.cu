// Takes a * x for zero when it is below 0.001, and skips the addition.
// It must fail: the result is off by hundreds of roundings.
// expect: wrong
#include <cuda_runtime.h>

__global__ void saxpy(float a, const float *x, const float *y, float *z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = a * x[i];
    z[i] = fabsf(p) < 1e-3f ? y[i] : p + y[i];
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    saxpy<<<(unsigned)((n + 255) / 256), 256>>>(a, x, y, z, n);
}
