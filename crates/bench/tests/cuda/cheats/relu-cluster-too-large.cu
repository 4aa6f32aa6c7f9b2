// Asks for clusters of 64 blocks, more than any GPU has.
// It must fail: the launch cannot be made.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

__global__ void __cluster_dims__(64, 1, 1) relu(const float *x, float *y, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<256, 256>>>(x, y, n); }
