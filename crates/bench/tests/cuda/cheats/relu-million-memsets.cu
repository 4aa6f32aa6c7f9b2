// Right answer after a million small memsets.
// It must fail: a plan is limited.
// expect: refused, timed-out, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (int i = 0; i < 1000000; i++) cudaMemsetAsync(y, 0, 4, 0);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
