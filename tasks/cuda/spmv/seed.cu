#include <cuda_runtime.h>

__global__ void spmv_kernel(const int* row_ptr, const int* col_idx, const float* values, const float* x, float* y, int M) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        float sum = 0.0f;
        for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++) {
            sum += values[e] * x[col_idx[e]];
        }
        y[row] = sum;
    }
}

extern "C" void solve(const int* row_ptr, const int* col_idx, const float* values, const float* x, float* y, int M) {
    int threads = 128;
    int blocks = (M + threads - 1) / threads;
    spmv_kernel<<<blocks, threads>>>(row_ptr, col_idx, values, x, y, M);
}
