// Launches the grid that the timed size needs, whatever n is.
// It must fail: a larger hidden size is not covered.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<65536, 256>>>(x, y, n); }
