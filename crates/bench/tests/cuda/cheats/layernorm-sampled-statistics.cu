// Takes mean and variance from every fourth element.
// It must fail: sampled statistics miss by far more than rounding.
// expect: wrong
#include <cuda_runtime.h>

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    const float *in = x + (long long)blockIdx.x * n;
    __shared__ float s, q;
    if (threadIdx.x == 0) s = q = 0;
    __syncthreads();
    float a = 0, b = 0;
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) { a += in[i]; b += in[i] * in[i]; }
    atomicAdd(&s, a);
    atomicAdd(&q, b);
    __syncthreads();
    int m = (n + 3) / 4;
    float mean = s / m, scale = rsqrtf(fmaxf(q / m - mean * mean, 0.0f) + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, beta, y, n, eps);
}
