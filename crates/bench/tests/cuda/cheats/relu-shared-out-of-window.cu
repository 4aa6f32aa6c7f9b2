// Right answer; then stores beyond the shared memory of its block.
// It must fail: an access outside the window is a fault.
// expect: crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    __shared__ volatile float s[256];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    s[threadIdx.x] = 0;
    if (i < n) y[i] = fmaxf(x[i], s[threadIdx.x]);
    s[threadIdx.x + 65536 + (int)(n & 1)] = 1;
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
