// Right eight times, then endless: past the point where a bench has decided that all is well.
// It must fail: the deadline holds until the last run.
// expect: timed-out
#include <cuda_runtime.h>

__device__ volatile int runs;

__global__ void relu(const float *x, float *y, long long n) {
    while (runs >= 8) {}
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void count() { runs = runs + 1; }

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    count<<<1, 1>>>();
}
