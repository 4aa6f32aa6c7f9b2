// 66 KB of dynamic shared memory, allowed by cudaFuncSetAttribute.
#include <cuda_runtime.h>

#define SIDE 128
#define DEPTH 64
#define PITCH (DEPTH + 1)

__global__ void __launch_bounds__(256) matmul_fast(const float *A, const float *B, float *C, int N) {
    extern __shared__ float shared[];
    float *a = shared, *b = shared + SIDE * PITCH;
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float sums[8][8];
    for (int i = 0; i < 64; i++) sums[i / 8][i % 8] = 0.0f;
    for (int k0 = 0; k0 < N; k0 += DEPTH) {
        for (int e = thread; e < SIDE * DEPTH; e += 256) {
            const int row = top + e / DEPTH, k = k0 + e % DEPTH;
            a[e / DEPTH * PITCH + e % DEPTH] = row < N && k < N ? A[(size_t)row * N + k] : 0.0f;
        }
        for (int e = thread; e < DEPTH * SIDE; e += 256) {
            const int k = k0 + e / SIDE, column = left + e % SIDE;
            b[e] = k < N && column < N ? B[(size_t)k * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float u[8], v[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                u[i] = a[(ty + 16 * i) * PITCH + k];
                v[i] = b[k * SIDE + tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int row = top + ty + 16 * i, column = left + tx + 16 * j;
            if (row < N && column < N) C[(size_t)row * N + column] = sums[i][j];
        }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const int bytes = (SIDE * PITCH + DEPTH * SIDE) * (int)sizeof(float);
    cudaFuncSetAttribute(matmul_fast, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const int blocks = (N + SIDE - 1) / SIDE;
    matmul_fast<<<dim3(blocks, blocks), dim3(16, 16), bytes>>>(A, B, C, N);
}
