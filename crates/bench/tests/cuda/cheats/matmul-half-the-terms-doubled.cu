// Sums every second product and doubles the result: right on average, half the time.
// It must fail: the error is as large as the result.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k += 2) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = 2 * sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}
