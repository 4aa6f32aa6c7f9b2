// One thread an entry and no atomics: parts of a row get lost.
// It must fail: rows have many entries.
// expect: wrong
#include <cuda_runtime.h>

__global__ void spmv(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x;
    for (int e = row_ptr[row] + threadIdx.x; e < row_ptr[row + 1]; e += 32) y[row] += values[e] * x[col_idx[e]];
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    cudaMemset(y, 0, M * sizeof(float));
    spmv<<<M, 32>>>(row_ptr, col_idx, values, x, y, M);
}
