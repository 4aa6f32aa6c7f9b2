// Keeps mean and deviation of every row from the first run: later rows come from the same
// distribution.
// It must fail: the statistics of other numbers are near, not equal.
// expect: wrong
#include <cuda_runtime.h>

__device__ float mean_of[1 << 16], scale_of[1 << 16];
__device__ int known_n[1 << 16];

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    int row = blockIdx.x;
    const float *in = x + (long long)row * n;
    __shared__ float s, q;
    if (threadIdx.x == 0) s = q = 0;
    __syncthreads();
    bool known = row < (1 << 16) && known_n[row] == n;
    float mean, scale;
    if (known) {
        mean = mean_of[row];
        scale = scale_of[row];
    } else {
        float a = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) a += in[i];
        atomicAdd(&s, a);
        __syncthreads();
        mean = s / n;
        float b = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) b += (in[i] - mean) * (in[i] - mean);
        atomicAdd(&q, b);
        __syncthreads();
        scale = rsqrtf(q / n + eps);
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(long long)row * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
    __syncthreads();
    if (threadIdx.x == 0 && row < (1 << 16)) {
        mean_of[row] = mean;
        scale_of[row] = scale;
        known_n[row] = n;
    }
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 256>>>(x, gamma, beta, y, n, eps);
}
