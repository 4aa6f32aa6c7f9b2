// Computes for the sizes that the task's file names and zeros for all others.
// It must fail: some sizes are drawn.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    if (N == 1 || N == 17 || N == 333 || N == 1024 || N == 1111)
        multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
    else
        cudaMemset(C, 0, sizeof(float) * N * N);
}
