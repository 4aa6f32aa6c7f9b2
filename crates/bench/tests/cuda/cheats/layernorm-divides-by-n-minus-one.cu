// Uses the sample variance, as another library does by default.
// It must fail: the task divides by n; for short rows the difference is large.
// expect: wrong
#include <cuda_runtime.h>

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    const float *in = x + (long long)blockIdx.x * n;
    __shared__ float s, q;
    if (threadIdx.x == 0) s = q = 0;
    __syncthreads();
    float a = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) a += in[i];
    atomicAdd(&s, a);
    __syncthreads();
    float mean = s / n, b = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) b += (in[i] - mean) * (in[i] - mean);
    atomicAdd(&q, b);
    __syncthreads();
    float scale = rsqrtf(q / (n > 1 ? n - 1 : 1) + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, beta, y, n, eps);
}
