// Copies the product out of its own scratch buffer and multiplies only where no mark says "done".
// It must fail: what the last run left in scratch memory is no answer to fresh inputs.
// expect: wrong
#include <cuda_runtime.h>

__global__ void take(const float *scratch, float *C, long long all) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < all) C[i] = scratch[i];
}

__global__ void multiply(const float *A, const float *B, float *scratch, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N || scratch[(long long)N * N] == 12345.0f) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    scratch[(long long)row * N + col] = sum;
}

__global__ void mark(float *scratch, long long all) { scratch[all] = 12345.0f; }

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    long long all = (long long)N * N;
    float *scratch;
    cudaMalloc(&scratch, (all + 1) * sizeof(float));
    take<<<(unsigned)((all + 255) / 256), 256>>>(scratch, C, all);
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, scratch, N);
    mark<<<1, 1>>>(scratch, all);
    cudaFree(scratch);
}
