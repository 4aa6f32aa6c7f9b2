// Leaves out beta, which is zero in a fresh model.
// It must fail: beta is drawn.
// expect: wrong
#include <cuda_runtime.h>

__global__ void normalise(const float *x, const float *gamma, float *y, int n, float eps) {
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
    float scale = rsqrtf(q / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale * gamma[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, y, n, eps);
}
