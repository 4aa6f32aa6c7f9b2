// Stores nothing for empty rows.
// It must fail: an empty row is zero, and the output is poison.
// expect: wrong
#include <cuda_runtime.h>

__global__ void spmv(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M || row_ptr[row] == row_ptr[row + 1]) return;
    float sum = 0;
    for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++) sum += values[e] * x[col_idx[e]];
    y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv<<<(M + 127) / 128, 128>>>(row_ptr, col_idx, values, x, y, M);
}
