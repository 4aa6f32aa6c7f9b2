// Right at small sizes, endless at the timed one.
// It must fail: every problem has a deadline.
// expect: timed-out, wrong
#include <cuda_runtime.h>

__device__ volatile int never;

__global__ void softmax(const float *x, float *y, int rows, int cols) {
    if (rows == 4096) while (!never) {}
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float part = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) part += expf(in[c]);
    atomicAdd(&total, part);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, rows, cols); }
