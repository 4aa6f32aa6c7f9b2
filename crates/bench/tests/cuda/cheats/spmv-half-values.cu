// Rounds values and vector to half precision: half of the bytes, were they stored so.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void spmv(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M) return;
    float sum = 0;
    for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++)
        sum += __half2float(__float2half(values[e])) * __half2float(__float2half(x[col_idx[e]]));
    y[row] = sum;
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv<<<(M + 127) / 128, 128>>>(row_ptr, col_idx, values, x, y, M);
}
