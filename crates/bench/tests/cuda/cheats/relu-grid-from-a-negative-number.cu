// Computes the grid as n minus more than n: a negative number that becomes four billion blocks.
// It must fail: no GPU runs that many blocks.
// expect: refused, timed-out, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(int)(n - (n + 256)), 256>>>(x, y, n); }
