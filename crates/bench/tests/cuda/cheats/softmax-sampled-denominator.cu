// Sums every second exponential and doubles: close for long rows.
// It must fail: the sum is off by far more than rounding.
// expect: wrong
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float part = 0;
    for (int c = 2 * threadIdx.x; c < cols; c += 2 * blockDim.x) part += expf(in[c]) * (c + 1 < cols ? 2 : 1);
    atomicAdd(&total, part);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, cols); }
