// Takes the inverse square root by the bit trick with one Newton step: an error of 0.1 percent.
// It must fail: 0.1 percent is twenty thousand roundings.
// expect: wrong
#include <cuda_runtime.h>

__device__ float quick(float v) {
    float r = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));
    return r * (1.5f - 0.5f * v * r * r);
}

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
    float scale = quick(q / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, beta, y, n, eps);
}
