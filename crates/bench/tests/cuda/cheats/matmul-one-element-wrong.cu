// Right but for one element at a place that the cycle counter picks.
// It must fail: every element influences the check.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = sum;
}

__global__ void spoil(float *C, long long all) {
    unsigned long long c = clock64() * 0x9e3779b97f4a7c15ull;
    C[(c >> 20) % all] += 0.25f;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
    spoil<<<1, 1>>>(C, (long long)N * N);
}
