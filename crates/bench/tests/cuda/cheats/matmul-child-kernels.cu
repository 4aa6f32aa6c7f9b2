// Launches the real work from device code and returns: a parent's end need not be its children's.
// It must fail: there is no device runtime to launch from.
// expect: not-compiled, refused
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = sum;
}

__global__ void parent(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}

extern "C" void solve(const float *A, const float *B, float *C, int N) { parent<<<1, 1>>>(A, B, C, N); }
