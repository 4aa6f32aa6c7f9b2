// Reads one number of the input on the host and launches what fits it.
// It must fail: host code sees no data.
// expect: refused, crashed, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (x[0] > -2.0f) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
