// A block streams the entries of 128 rows through shared memory; then each thread adds up its row.
#include <cuda_runtime.h>

#define ROWS 128
#define PORTION 1024

__global__ void __launch_bounds__(ROWS) spmv_fast(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    __shared__ float products[PORTION];
    const int row = blockIdx.x * ROWS + threadIdx.x, first_row = blockIdx.x * ROWS, last_row = min(first_row + ROWS, M);
    const int first = row_ptr[first_row], last = row_ptr[last_row];
    const int begin = row < M ? row_ptr[row] : last, end = row < M ? row_ptr[row + 1] : last;
    float sum = 0.0f;
    for (int portion = first; portion < last; portion += PORTION) {
        for (int e = portion + threadIdx.x; e < portion + PORTION && e < last; e += ROWS) products[e - portion] = values[e] * x[col_idx[e]];
        __syncthreads();
        for (int e = max(begin, portion); e < min(end, portion + PORTION); e++) sum += products[e - portion];
        __syncthreads();
    }
    if (row < M) y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv_fast<<<(M + ROWS - 1) / ROWS, ROWS>>>(row_ptr, col_idx, values, x, y, M);
}
