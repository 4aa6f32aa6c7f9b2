// Replaces exp by its Taylor polynomial of degree five, which is close on [-1, 1].
// It must fail: close is 0.1 percent at the ends.
// expect: wrong
#include <cuda_runtime.h>

__device__ float quick(float v) {
    return 1 + v * (1 + v * (0.5f + v * (1.0f / 6 + v * (1.0f / 24 + v / 120))));
}

__global__ void softmax(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float part = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) part += quick(in[c]);
    atomicAdd(&total, part);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(long long)blockIdx.x * cols + c] = quick(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, cols); }
