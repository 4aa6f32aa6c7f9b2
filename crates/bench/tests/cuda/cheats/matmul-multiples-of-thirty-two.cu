// Launches N / 32 blocks a side and tests no bounds.
// It must fail: hidden sizes are no multiples of 32.
// expect: wrong, crashed, refused
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    __shared__ float a[32][32], b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N / 32 * 32; k += 32) {
        a[threadIdx.y][threadIdx.x] = A[(long long)row * N + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(long long)(k + threadIdx.y) * N + col];
        __syncthreads();
        for (int i = 0; i < 32; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3(N / 32, N / 32), dim3(32, 32)>>>(A, B, C, N);
}
