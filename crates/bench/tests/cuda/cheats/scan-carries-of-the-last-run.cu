// Scans blocks alone and adds the carries that the last run left: no second pass, no waiting.
// It must fail: the carries belong to other inputs.
// expect: wrong
#include <cuda_runtime.h>

__device__ float block_sum[1 << 20], carry[1 << 20];

__global__ void local_scan(const float *x, float *y, long long n) {
    __shared__ float s[256];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += t;
        __syncthreads();
    }
    if (i < n) y[i] = s[threadIdx.x] + carry[blockIdx.x];
    if (threadIdx.x == 255) block_sum[blockIdx.x] = s[255];
}

__global__ void carries(int blocks) {
    float sum = 0;
    for (int b = 0; b < blocks; b++) {
        carry[b] = sum;
        sum += block_sum[b];
    }
}

extern "C" void solve(const float *x, float *y, int n) {
    int blocks = (int)((n + 255) / 256);
    local_scan<<<blocks, 256>>>(x, y, n);
    carries<<<1, 1>>>(blocks);
}
