// Reads the row's sum before the other warps have added theirs.
// It must fail: sums are incomplete.
// expect: wrong
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float part = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) part += expf(in[c]);
    atomicAdd(&total, part);
    float sum = *(volatile float *)&total;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / sum;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 1024>>>(x, y, cols); }
