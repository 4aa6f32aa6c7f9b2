// Takes the inputs for those of an earlier run when two signs and the size agree.
// It must fail: fresh inputs agree in two signs every fourth time.
// expect: wrong
#include <cuda_runtime.h>

__device__ float saved[4][2048 * 2048];
__device__ int size_of[4];

__device__ int key(const float *A, const float *B) { return (A[0] > 0) * 2 + (B[0] > 0); }

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int k = key(A, B);
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    long long at = (long long)row * N + col;
    if (size_of[k] == N) {
        C[at] = saved[k][at];
        return;
    }
    float sum = 0;
    for (int i = 0; i < N; i++) sum += A[(long long)row * N + i] * B[(long long)i * N + col];
    C[at] = sum;
    if (N <= 2048) saved[k][at] = sum;
}

__global__ void remember(const float *A, const float *B, int N) { if (N <= 2048) size_of[key(A, B)] = N; }

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    dim3 block(16, 16), grid((N + 15) / 16, (N + 15) / 16);
    multiply<<<grid, block>>>(A, B, C, N);
    remember<<<1, 1>>>(A, B, N);
}
