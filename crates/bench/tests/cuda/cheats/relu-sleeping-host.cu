// Host code that sleeps without end and so uses no CPU time.
// It must fail: the jail has a limit of wall-clock time as well.
// expect: not-compiled, refused, crashed, wrong, timed-out
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (;;) pause();
}
