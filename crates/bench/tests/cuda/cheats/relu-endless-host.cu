// Host code that never ends.
// It must fail: the jail has a limit of time.
// expect: timed-out, refused, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (volatile int i = 0;; i = i + 1) {}
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
