// A kernel that never ends.
// It must fail: the deadline ends the runner.
// expect: timed-out
#include <cuda_runtime.h>

__device__ volatile int never;

__global__ void spin() {
    while (!never) {}
}

extern "C" void solve(const float *x, float *y, long long n) { spin<<<1, 1>>>(); }
