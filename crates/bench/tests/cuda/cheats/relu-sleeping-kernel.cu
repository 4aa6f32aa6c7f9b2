// Sleeps in device code without end, which keeps the GPU's units idle.
// It must fail: the deadline ends the runner.
// expect: timed-out
#include <cuda_runtime.h>

__device__ volatile int never;

__global__ void sleep_on() {
    while (!never) __nanosleep(1000000);
}

extern "C" void solve(const float *x, float *y, long long n) { sleep_on<<<1, 32>>>(); }
