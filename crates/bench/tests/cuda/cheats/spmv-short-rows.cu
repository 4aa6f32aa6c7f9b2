// Uses at most 32 entries of a row: most rows have no more.
// It must fail: rows differ in length, and some are longer.
// expect: wrong
#include <cuda_runtime.h>

__global__ void spmv(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M) return;
    int first = row_ptr[row], last = min(row_ptr[row + 1], first + 32);
    float sum = 0;
    for (int e = first; e < last; e++) sum += values[e] * x[col_idx[e]];
    y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv<<<(M + 127) / 128, 128>>>(row_ptr, col_idx, values, x, y, M);
}
