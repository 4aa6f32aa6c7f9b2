// Assumes that all rows have as many entries as the mean and never reads the row pointers in
// between.
// It must fail: rows differ in length.
// expect: wrong
#include <cuda_runtime.h>

__global__ void spmv(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M) return;
    long long entries = row_ptr[M];
    int first = (int)(entries * row / M), last = (int)(entries * (row + 1) / M);
    float sum = 0;
    for (int e = first; e < last; e++) sum += values[e] * x[col_idx[e]];
    y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv<<<(M + 127) / 128, 128>>>(row_ptr, col_idx, values, x, y, M);
}
