// Tiles in shared memory without the second barrier: a fast warp overwrites what a slow one
// still reads.
// It must fail: mostly right is wrong, and every element is checked at every run.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    __shared__ volatile float a[32][32], b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k += 32) {
        a[threadIdx.y][threadIdx.x] = row < N && k + threadIdx.x < N ? A[(long long)row * N + k + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < N ? B[(long long)(k + threadIdx.y) * N + col] : 0;
        for (int i = 0; i < 32; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    }
    if (row < N && col < N) C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 31) / 32, (N + 31) / 32), dim3(32, 32)>>>(A, B, C, N);
}
