// Fills its tiles by the pipeline primitives, where the stage forbids asynchronous copies.
// It must fail: the PTX shows cp.async.
// expect: refused, not-compiled
// stage: shared-memory
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k += 16) {
        a[threadIdx.y][threadIdx.x] = b[threadIdx.y][threadIdx.x] = 0;
        if (row < N && k + threadIdx.x < N)
            __pipeline_memcpy_async(&a[threadIdx.y][threadIdx.x], &A[(long long)row * N + k + threadIdx.x], 4);
        if (col < N && k + threadIdx.y < N)
            __pipeline_memcpy_async(&b[threadIdx.y][threadIdx.x], &B[(long long)(k + threadIdx.y) * N + col], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < N && col < N) C[(long long)row * N + col] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), dim3(16, 16)>>>(A, B, C, N);
}
