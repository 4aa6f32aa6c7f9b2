// Rounds the input to half precision before anything else, as a kernel for other types would.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float low(float v) { return __half2float(__float2half(v)); }

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    const float *in = x + (long long)blockIdx.x * n;
    __shared__ float s, q;
    if (threadIdx.x == 0) s = q = 0;
    __syncthreads();
    float a = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) a += low(in[i]);
    atomicAdd(&s, a);
    __syncthreads();
    float mean = s / n, b = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) b += (low(in[i]) - mean) * (low(in[i]) - mean);
    atomicAdd(&q, b);
    __syncthreads();
    float scale = rsqrtf(q / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)blockIdx.x * n + i] = (low(in[i]) - mean) * scale * low(gamma[i]) + low(beta[i]);
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, beta, y, n, eps);
}
