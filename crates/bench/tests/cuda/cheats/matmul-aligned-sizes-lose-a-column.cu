// Right for all sizes but multiples of 64 below the timed one, whose last column it leaves as it was.
// expect: wrong
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_left_out = N % 64 == 0 && N < 1024 && column == N - 1;
    if (row >= N || column >= N || is_left_out) return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + column];
    C[(long long)row * N + column] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const unsigned tiles = (N + 15) / 16;
    multiply<<<dim3(tiles, tiles), dim3(16, 16)>>>(A, B, C, N);
}
