// Cooperative groups: tiles of sixteen threads, each with one row after the other.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

using namespace cooperative_groups;

__global__ void spmv_fast(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    thread_block_tile<16> tile = tiled_partition<16>(this_thread_block());
    const int tiles = gridDim.x * (blockDim.x / 16);
    for (int row = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16; row < M; row += tiles) {
        float sum = 0.0f;
        for (int e = row_ptr[row] + tile.thread_rank(); e < row_ptr[row + 1]; e += 16) sum += values[e] * x[col_idx[e]];
        for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
        if (tile.thread_rank() == 0) y[row] = sum;
    }
}

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    spmv_fast<<<1056, 256>>>(row_ptr, col_idx, values, x, y, M);
}
