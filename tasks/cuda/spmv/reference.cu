// y = A x; row i holds the entries row_ptr[i] to row_ptr[i + 1] - 1.
// The scale is the sum of the terms' magnitudes: 0 for an empty row, which must be zero.
// A warp takes a row.

#include <cuda_runtime.h>

__global__ void spmv_reference(const int *row_ptr, const int *col_idx, const float *values, const float *x, double *y, double *y_scale, int M) {
    const long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= M) return;
    double sum = 0.0, scale = 0.0;
    for (int e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += 32) {
        const double term = (double)values[e] * (double)x[col_idx[e]];
        sum += term;
        scale += fabs(term);
    }
    for (int half = 16; half > 0; half /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, half);
        scale += __shfl_xor_sync(0xffffffffu, scale, half);
    }
    if (lane == 0) {
        y[row] = sum;
        y_scale[row] = scale;
    }
}

extern "C" void reference(const int *row_ptr, const int *col_idx, const float *values, const float *x, double *y, double *y_scale, int M) {
    spmv_reference<<<(M - 1) / 8 + 1, 256>>>(row_ptr, col_idx, values, x, y, y_scale, M);
}
