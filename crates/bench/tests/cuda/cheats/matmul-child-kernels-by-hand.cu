// Declares the device runtime's functions itself and launches from device code through them.
// It must fail: nothing of that name is linked.
// expect: not-compiled, refused, crashed
#include <cuda_runtime.h>

extern "C" __device__ void *cudaGetParameterBufferV2(void *function, dim3 grid, dim3 block, unsigned shared);
extern "C" __device__ cudaError_t cudaLaunchDeviceV2(void *buffer, cudaStream_t stream);

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[(long long)row * N + k] * B[(long long)k * N + col];
    C[(long long)row * N + col] = sum;
}

__global__ void parent(const float *A, const float *B, float *C, int N) {
    unsigned side = (N + 15) / 16;
    void **buffer = (void **)cudaGetParameterBufferV2((void *)multiply, dim3(side, side), dim3(16, 16), 0);
    buffer[0] = (void *)A;
    buffer[1] = (void *)B;
    buffer[2] = C;
    *(int *)&buffer[3] = N;
    cudaLaunchDeviceV2(buffer, 0);
}

extern "C" void solve(const float *A, const float *B, float *C, int N) { parent<<<1, 1>>>(A, B, C, N); }
