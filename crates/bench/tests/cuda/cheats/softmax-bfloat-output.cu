// Computes well and rounds the result to bfloat16, as a kernel for other types would.
// It must fail: the output keeps eight bits.
// expect: wrong
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float part = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) part += expf(in[c]);
    atomicAdd(&total, part);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[(long long)blockIdx.x * cols + c] = __bfloat162float(__float2bfloat16(expf(in[c]) / total));
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, cols); }
