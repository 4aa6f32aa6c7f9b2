// Ignores SIGXCPU, so that the hard limit ends it by SIGKILL, as if from outside.
// It must fail: a candidate never causes an error of the machine; it took too long.
// expect: timed-out, crashed, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void (*signal(int, void (*)(int)))(int);

extern "C" void solve(const float *x, float *y, long long n) {
    signal(24, (void (*)(int))1);
    for (volatile int i = 0;; i = i + 1) {}
}
