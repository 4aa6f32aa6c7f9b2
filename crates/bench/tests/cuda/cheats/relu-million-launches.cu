// Launches one kernel for every 64 elements: far beyond a plan's length.
// It must fail: a plan is limited, and the limit is said.
// expect: refused, timed-out, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long first, long long n) {
    long long i = first + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (long long first = 0; first < n; first += 16) relu<<<1, 16>>>(x, y, first, n);
}
