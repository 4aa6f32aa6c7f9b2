// Recurses without end on the host.
// It must fail: the stack is limited.
// expect: not-compiled, refused, crashed, wrong, timed-out
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int down(volatile int *p, int d) {
    volatile int here[64];
    here[d & 63] = *p;
    return down(here, d + 1) + here[(d + 1) & 63];
}

extern "C" void solve(const float *x, float *y, long long n) {
    volatile int zero = 0;
    if (down(&zero, 0) == 0) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
