// y is the transpose of x. Nothing is rounded: the scale is 0, which demands equality.

#include <cuda_runtime.h>

#define TILE 32

__global__ void transpose_reference(const float *x, double *y, double *y_scale, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    const long long tiles_across = (cols - 1) / TILE + 1;
    const long long row = blockIdx.x / tiles_across * TILE, column = blockIdx.x % tiles_across * TILE;
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        if (row + i < rows && column + threadIdx.x < cols) {
            tile[i][threadIdx.x] = x[(row + i) * cols + column + threadIdx.x];
        }
    }
    __syncthreads();
    for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
        if (column + j < cols && row + threadIdx.x < rows) {
            const long long at = (column + j) * rows + row + threadIdx.x;
            y[at] = tile[threadIdx.x][j];
            y_scale[at] = 0.0;
        }
    }
}

extern "C" void reference(const float *x, double *y, double *y_scale, int rows, int cols) {
    const int tiles = ((rows - 1) / TILE + 1) * ((cols - 1) / TILE + 1);
    transpose_reference<<<tiles, dim3(TILE, 8)>>>(x, y, y_scale, rows, cols);
}
