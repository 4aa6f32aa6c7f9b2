// Makes exp by writing the exponent bits (Schraudolph): one multiplication, three percent of error.
// It must fail: three percent is half a million roundings.
// expect: wrong
#include <cuda_runtime.h>

__device__ float quick(float v) { return __int_as_float((int)(12102203.0f * v) + 1064866805); }

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
