// Rounds the inputs to eight bits and multiplies by dp4a: four products an instruction.
// It must fail: 1/127 is a coarse grid.
// expect: wrong
#include <cuda_runtime.h>

__device__ int pack(const float *v, long long step, int left) {
    unsigned p = 0;
    for (int i = 0; i < 4; i++)
        p |= (unsigned)((i < left ? __float2int_rn(v[i * step] * 127) : 0) & 255) << (8 * i);
    return (int)p;
}

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) return;
    int sum = 0;
    for (int k = 0; k < N; k += 4)
        sum = __dp4a(pack(A + (long long)row * N + k, 1, N - k), pack(B + (long long)k * N + col, N, N - k), sum);
    C[(long long)row * N + col] = sum / (127.0f * 127.0f);
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}
