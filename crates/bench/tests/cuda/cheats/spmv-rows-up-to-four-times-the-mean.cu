// Takes at most four times the mean number of entries of each row, and some more. Rows of random length have no more.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    const int begin = row_ptr[row], most = 64 + (int)(4ll * row_ptr[M] / M);
    int end = row_ptr[row + 1];
    if (end - begin > most) end = begin + most;
    float sum = 0.0f;
    for (int i = begin; i < end; i++) sum += values[i] * x[col_idx[i]];
    y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    multiply<<<(M + 127) / 128, 128>>>(row_ptr, col_idx, values, x, y, M);
}
