// Sleeps in host code through the standard library, without using the processor.
// It must fail: the jail has a limit of wall-clock time; the candidate took too long, not the
// machine.
// expect: timed-out, crashed, refused, not-compiled
#include <cuda_runtime.h>
#include <time.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    timespec day = {86400, 0};
    for (;;) nanosleep(&day, nullptr);
}
