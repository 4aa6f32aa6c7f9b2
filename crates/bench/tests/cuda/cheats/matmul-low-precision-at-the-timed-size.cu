// Exact where sizes look hidden, TF32-like where N is a multiple of 256: only the timed size is.
// It must fail: the timed runs are verified as strictly as the others.
// expect: wrong
#include <cuda_runtime.h>

template <bool LOW> __device__ float part(float v) {
    return LOW ? __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u) : v;
}

template <bool LOW> __global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += part<LOW>(A[(long long)row * N + k]) * part<LOW>(B[(long long)k * N + col]);
    C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    dim3 grid((N + 15) / 16, (N + 15) / 16), block(16, 16);
    if (N % 256 == 0) multiply<true><<<grid, block>>>(A, B, C, N);
    else multiply<false><<<grid, block>>>(A, B, C, N);
}
