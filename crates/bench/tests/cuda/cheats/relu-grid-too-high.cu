// Launches 70,000 blocks along y, where 65,535 is the limit.
// It must fail: the launch never happens.
// expect: refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    for (long long i = blockIdx.y * 256ll + threadIdx.x; i < n; i += gridDim.y * 256ll) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<dim3(1, 70000), 256>>>(x, y, n); }
