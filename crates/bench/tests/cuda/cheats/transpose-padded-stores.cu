// Stores whole tiles without testing bounds: right inside, and tiles reach past the end.
// It must fail: at sizes that are no multiples of 32 it writes outside, or over other rows.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void transpose(const float *x, float *y, int rows, int cols) {
    __shared__ float t[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (c < cols && r < rows) t[threadIdx.y][threadIdx.x] = x[(long long)r * cols + c];
    __syncthreads();
    int ro = blockIdx.x * 32 + threadIdx.y, co = blockIdx.y * 32 + threadIdx.x;
    y[(long long)ro * rows + co] = t[threadIdx.x][threadIdx.y];
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(x, y, rows, cols);
}
