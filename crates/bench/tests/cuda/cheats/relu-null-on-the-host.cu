// Writes to the null address on the host.
// It must fail: a fault is a crash.
// expect: crashed, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    *(volatile int *)nullptr = 1;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
