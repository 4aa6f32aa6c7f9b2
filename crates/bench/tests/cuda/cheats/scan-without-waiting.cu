// Adds the sums that other blocks have published so far and does not wait for the missing ones.
// It must fail: blocks run at the same time, so sums are missing.
// expect: wrong
#include <cuda_runtime.h>

__global__ void clear(float *sums, int blocks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < blocks) sums[b] = 0;
}

__global__ void scan(const float *x, float *y, volatile float *sums, long long n) {
    __shared__ float s[512];
    __shared__ float carry;
    long long i = blockIdx.x * 512ll + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        float t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += t;
        __syncthreads();
    }
    if (threadIdx.x == 511) sums[blockIdx.x] = s[511];
    float part = 0;
    for (int b = threadIdx.x; b < (int)blockIdx.x; b += 512) part += sums[b];
    atomicAdd(&carry, part);
    __syncthreads();
    if (i < n) y[i] = s[threadIdx.x] + carry;
}

extern "C" void solve(const float *x, float *y, int n) {
    int blocks = (int)((n + 511) / 512);
    float *sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    clear<<<(blocks + 255) / 256, 256>>>(sums, blocks);
    scan<<<blocks, 512>>>(x, y, sums, n);
    cudaFree(sums);
}
