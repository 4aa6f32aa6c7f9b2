// Skips work where the number of rows is none of those in the task's file, inside the kernel.
// It must fail: some sizes are drawn.
// expect: wrong
#include <cuda_runtime.h>

__global__ void softmax(const float *x, float *y, int rows, int cols) {
    bool known = (rows == 4096 && cols == 4096) || (rows == 4999 && cols == 7) || (rows == 37 && cols == 1999) ||
                 (rows == 3 && cols == 10007) || (rows == 1 && cols == 1);
    const float *in = x + (long long)blockIdx.x * cols;
    __shared__ float total;
    if (threadIdx.x == 0) total = known ? 0 : cols;
    __syncthreads();
    if (known) {
        float part = 0;
        for (int c = threadIdx.x; c < cols; c += blockDim.x) part += expf(in[c]);
        atomicAdd(&total, part);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, rows, cols); }
