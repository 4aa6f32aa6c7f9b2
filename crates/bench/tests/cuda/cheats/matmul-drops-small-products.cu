// Skips products of factors below 0.002, which a loose tolerance would forgive.
// It must fail: at N of some hundred the dropped terms are far above rounding.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        float a = A[(long long)row * N + k];
        if (fabsf(a) < 2e-3f) continue;
        sum += a * B[(long long)k * N + col];
    }
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}
