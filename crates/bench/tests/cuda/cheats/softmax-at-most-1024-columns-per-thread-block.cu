// One thread a column and one block a row, cut at 1024 columns.
// It must fail: rows are longer than a block.
// expect: wrong
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, int cols) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float e = expf(x[(long long)blockIdx.x * cols + threadIdx.x]);
    atomicAdd(&total, e);
    __syncthreads();
    y[(long long)blockIdx.x * cols + threadIdx.x] = e / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    softmax<<<rows, cols < 1024 ? cols : 1024>>>(x, y, cols);
}
