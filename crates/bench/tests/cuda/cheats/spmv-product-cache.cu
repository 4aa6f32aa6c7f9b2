// Keeps the products of values and vector from the first run, as if the matrix were constant.
// It must fail: values are fresh at every run.
// expect: wrong
#include <cuda_runtime.h>

__device__ float product[1 << 23];
__device__ int filled;

__global__ void multiply(const int *row_ptr, const int *col_idx, const float *values, const float *x, int M) {
    if (filled == M) return;
    for (int e = blockIdx.x * 256 + threadIdx.x; e < row_ptr[M] && e < 1 << 23; e += gridDim.x * 256)
        product[e] = values[e] * x[col_idx[e]];
}

__global__ void add(const int *row_ptr, float *y, int M) {
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= M) return;
    float sum = 0;
    for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++) sum += product[e % (1 << 23)];
    y[row] = sum;
}

__global__ void mark(int M) { filled = M; }

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    multiply<<<528, 256>>>(row_ptr, col_idx, values, x, M);
    add<<<(M + 127) / 128, 128>>>(row_ptr, y, M);
    mark<<<1, 1>>>(M);
}
