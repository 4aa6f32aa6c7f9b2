// Puts sixteen gigabytes of initialised data into the host half.
// It must fail: objects are limited in size.
// expect: not-compiled, timed-out, refused, crashed
#include <cuda_runtime.h>

static char big[16ull << 30] = {1};

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (big[n & 1] + big[0]) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
