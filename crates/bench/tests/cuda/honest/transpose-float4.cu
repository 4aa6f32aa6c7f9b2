// Sixteen-byte loads and stores where both sides are multiples of four, another kernel where not.
#include <cuda_runtime.h>

#define SIDE 64

__global__ void transpose_quads(const float *__restrict__ x, float *__restrict__ y, int rows, int cols) {
    __shared__ float tile[SIDE][SIDE + 1];
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    for (int k = threadIdx.x; k < SIDE * SIDE / 4; k += blockDim.x) {
        const int i = k / (SIDE / 4), j = k % (SIDE / 4) * 4;
        if (top + i < rows && left + j < cols) {
            const float4 v = *(const float4 *)(x + (size_t)(top + i) * cols + left + j);
            tile[i][j] = v.x;
            tile[i][j + 1] = v.y;
            tile[i][j + 2] = v.z;
            tile[i][j + 3] = v.w;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < SIDE * SIDE / 4; k += blockDim.x) {
        const int j = k / (SIDE / 4), i = k % (SIDE / 4) * 4;
        if (left + j < cols && top + i < rows) {
            *(float4 *)(y + (size_t)(left + j) * rows + top + i) = make_float4(tile[i][j], tile[i + 1][j], tile[i + 2][j], tile[i + 3][j]);
        }
    }
}

__global__ void transpose_any(const float *x, float *y, int rows, int cols) {
    const size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < (size_t)rows * cols) y[t] = x[t % rows * cols + t / rows];
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    if (rows % 4 == 0 && cols % 4 == 0) {
        transpose_quads<<<dim3((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE), 256>>>(x, y, rows, cols);
    } else {
        const size_t elements = (size_t)rows * cols;
        transpose_any<<<(unsigned)((elements + 255) / 256), 256>>>(x, y, rows, cols);
    }
}
