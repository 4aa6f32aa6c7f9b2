// Keeps row pointers and columns of the first run for each M and reads only the values afresh: half
// of the bytes, if the pattern of the matrix stays.
// It must fail: all inputs are fresh at every run, integers too.
// expect: wrong, crashed
#include <cuda_runtime.h>

__device__ int rows_kept[1 << 18], columns_kept[1 << 23];
__device__ int kept;

__global__ void keep(const int *row_ptr, const int *col_idx, int M) {
    if (kept == M || M >= 1 << 18) return;
    int at = blockIdx.x * 256 + threadIdx.x, all = gridDim.x * 256;
    for (int i = at; i <= M; i += all) rows_kept[i] = row_ptr[i];
    for (int e = at; e < row_ptr[M] && e < 1 << 23; e += all) columns_kept[e] = col_idx[e];
}

__global__ void spmv(const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M) return;
    float sum = 0;
    for (int e = rows_kept[row]; e < rows_kept[row + 1]; e++) sum += values[e] * x[columns_kept[e]];
    y[row] = sum;
}

__global__ void mark(int M) { kept = M; }

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    keep<<<528, 256>>>(row_ptr, col_idx, M);
    spmv<<<(M + 127) / 128, 128>>>(values, x, y, M);
    mark<<<1, 1>>>(M);
}
