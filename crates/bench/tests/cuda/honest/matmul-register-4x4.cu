// Sixteen results a thread in registers; the loads are macros.
#include <cuda_runtime.h>

#define BM 64
#define BK 16
#define AT(matrix, i, j) ((i) < N && (j) < N ? (matrix)[(long long)(i)*N + (j)] : 0.0f)

__global__ void __launch_bounds__(256) matmul_fast(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N) {
    __shared__ float a[BK][BM + 1], b[BK][BM];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, top = blockIdx.y * BM, left = blockIdx.x * BM;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < N; k0 += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += 256) {
            a[e % BK][e / BK] = AT(A, top + e / BK, k0 + e % BK);
            b[e / BM][e % BM] = AT(B, k0 + e / BM, left + e % BM);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float u[4], v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) u[i] = a[k][ty * 4 + i], v[i] = b[k][tx + 16 * i];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sums[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = top + ty * 4 + i, column = left + tx + 16 * j;
            if (row < N && column < N) C[(long long)row * N + column] = sums[i][j];
        }
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const int blocks = (N + BM - 1) / BM;
    matmul_fast<<<dim3(blocks, blocks), 256>>>(A, B, C, N);
}
