// Moves the tile through shared memory in half precision: half the shared memory traffic.
// It must fail: a transpose changes no bit.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void transpose(const float *x, float *y, int rows, int cols) {
    __shared__ __half t[32][34];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (c < cols && r < rows) t[threadIdx.y][threadIdx.x] = __float2half(x[(long long)r * cols + c]);
    __syncthreads();
    int ro = blockIdx.x * 32 + threadIdx.y, co = blockIdx.y * 32 + threadIdx.x;
    if (ro < cols && co < rows) y[(long long)ro * rows + co] = __half2float(t[threadIdx.x][threadIdx.y]);
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(x, y, rows, cols);
}
