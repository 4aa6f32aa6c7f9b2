// Promises blocks of at most 64 threads and launches 1,024.
// It must fail: the launch cannot be made; that is the candidate's fault.
// expect: crashed, refused, wrong
#include <cuda_runtime.h>

__global__ void __launch_bounds__(64) relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 1024ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 1023) / 1024), 1024>>>(x, y, n);
}
