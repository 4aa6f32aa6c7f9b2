// Splits A into two bfloat16 numbers but keeps only the upper half of B: two products instead of
// three.
// It must fail: the dropped part of B is as large as 2^-9 of it.
// expect: wrong
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        float a = A[(long long)row * N + k], b = B[(long long)k * N + col];
        float high = __bfloat162float(__float2bfloat16(a)), low = __bfloat162float(__float2bfloat16(a - high));
        float top = __bfloat162float(__float2bfloat16(b));
        sum += high * top;
        sum += low * top;
    }
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}
