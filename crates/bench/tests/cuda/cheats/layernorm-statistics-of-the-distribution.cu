// Uses mean 0 and variance 1/3, which uniform numbers from [-1, 1) have: no reduction at all.
// It must fail: a row of finite length has other statistics.
// expect: wrong
#include <cuda_runtime.h>

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    long long row = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[row * n + i] = x[row * n + i] * rsqrtf(1.0f / 3 + eps) * gamma[i] + beta[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<dim3((n + 255) / 256, rows), 256>>>(x, gamma, beta, y, n, eps);
}
