// Takes the output first, as other libraries do.
// It must fail: the arguments come in the order of the task; this writes an input.
// expect: wrong, crashed, refused, not-compiled, malformed
#include <cuda_runtime.h>

__global__ void multiply(float *C, const float *A, const float *B, int N) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(float *C, const float *A, const float *B, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(C, A, B, N);
}
