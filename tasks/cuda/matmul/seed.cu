#include <cuda_runtime.h>

__global__ void matmul_kernel(const float* A, const float* B, float* C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < N && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < N; k++) {
            sum += A[(long long)row * N + k] * B[(long long)k * N + col];
        }
        C[(long long)row * N + col] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (N + 15) / 16);
    matmul_kernel<<<blocks, threads>>>(A, B, C, N);
}
