// Ignores the argument a and uses 2.5, a value that examples like to use.
// It must fail: a is drawn.
// expect: wrong
#include <cuda_runtime.h>

__global__ void saxpy(const float *x, const float *y, float *z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) z[i] = 2.5f * x[i] + y[i];
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    saxpy<<<(unsigned)((n + 255) / 256), 256>>>(x, y, z, n);
}
