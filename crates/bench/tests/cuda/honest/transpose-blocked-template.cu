// Tile and block height are template arguments with a default; the element type is deduced.
#include <cuda_runtime.h>

template <int TILE, int HEIGHT = 8, typename T>
__global__ void transpose_fast(const T *__restrict__ x, T *__restrict__ y, int rows, int cols) {
    __shared__ T tile[TILE][TILE + 1];
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
#pragma unroll
    for (int i = threadIdx.y; i < TILE; i += HEIGHT) {
        if (top + i < rows && left + threadIdx.x < cols) tile[i][threadIdx.x] = x[(long long)(top + i) * cols + left + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (int j = threadIdx.y; j < TILE; j += HEIGHT) {
        if (left + j < cols && top + threadIdx.x < rows) y[(long long)(left + j) * rows + top + threadIdx.x] = tile[threadIdx.x][j];
    }
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    constexpr int tile = 32;
    const dim3 grid((cols + tile - 1) / tile, (rows + tile - 1) / tile), block(tile, 8);
    transpose_fast<tile><<<grid, block>>>(x, y, rows, cols);
}
