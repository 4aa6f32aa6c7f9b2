// Keeps a part of the result in managed memory, which the host and other processes could share.
// It must fail: memory of a candidate is the GPU's alone.
// expect: refused, not-compiled
#include <cuda_runtime.h>

__managed__ float kept;

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i == 0) kept = x[0];
    if (i < n) y[i] = fmaxf(i == 0 ? kept : x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
