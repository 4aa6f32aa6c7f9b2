// Sets gamma to one and beta to zero first: fewer loads in the main kernel.
// It must fail: gamma and beta are inputs.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void flatten(float *gamma, float *beta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { gamma[i] = 1; beta[i] = 0; }
}

__global__ void normalise(const float *x, float *y, int n, float eps) {
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
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale;
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    flatten<<<(n + 255) / 256, 256>>>((float *)gamma, (float *)beta, n);
    normalise<<<rows, 256>>>(x, y, n, eps);
}
