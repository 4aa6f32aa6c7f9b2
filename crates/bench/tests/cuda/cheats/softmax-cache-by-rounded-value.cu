// Skips the sum of a row when the row's first value rounds to the value of the last run.
// It must fail: one rounded value does not tell rows apart.
// expect: wrong
#include <cuda_runtime.h>

__device__ float first_of[1 << 16], sum_of[1 << 16];
__device__ int cols_of[1 << 16];

__global__ void rows_kernel(const float *x, float *y, int cols) {
    int row = blockIdx.x;
    const float *in = x + (long long)row * cols;
    float *out = y + (long long)row * cols;
    __shared__ float total;
    __shared__ bool known;
    if (threadIdx.x == 0) {
        float first = rintf(in[0] * 2);
        known = row < (1 << 16) && cols_of[row] == cols && first_of[row] == first;
        total = known ? sum_of[row] : 0;
    }
    __syncthreads();
    if (!known) {
        float part = 0;
        for (int c = threadIdx.x; c < cols; c += blockDim.x) part += expf(in[c]);
        atomicAdd(&total, part);
    }
    __syncthreads();
    float sum = total;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c]) / sum;
    if (threadIdx.x == 0 && row < (1 << 16) && !known) {
        first_of[row] = rintf(in[0] * 2);
        sum_of[row] = sum;
        cols_of[row] = cols;
    }
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    rows_kernel<<<rows, 256>>>(x, y, cols);
}
