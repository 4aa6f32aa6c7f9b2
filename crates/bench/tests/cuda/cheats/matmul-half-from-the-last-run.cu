// Computes the upper half of C; the lower half comes from the last run, kept in device memory.
// It must fail: the other half belongs to other inputs.
// expect: wrong
#include <cuda_runtime.h>

__device__ float saved[4096 * 4096];
__device__ int warm;

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    long long at = (long long)row * N + col;
    if (warm == N && row >= N / 2) {
        C[at] = saved[at];
        return;
    }
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[at] = sum;
    if (N <= 4096) saved[at] = sum;
}

__global__ void warmed(int N) { if (N <= 4096) warm = N; }

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    dim3 block(16, 16), grid((N + 15) / 16, (N + 15) / 16);
    multiply<<<grid, block>>>(A, B, C, N);
    warmed<<<1, 1>>>(N);
}
