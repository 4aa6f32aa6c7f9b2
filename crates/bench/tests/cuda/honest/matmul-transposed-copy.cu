// Transposes B into scratch memory first; the launch is spelled out by cudaLaunchKernel.
#include <cuda_runtime.h>

__global__ void turn(const float *B, float *Bt, int N) {
    __shared__ float tile[16][17];
    const int x = blockIdx.x * 16, y = blockIdx.y * 16;
    if (x + threadIdx.x < N && y + threadIdx.y < N) tile[threadIdx.y][threadIdx.x] = B[(y + threadIdx.y) * N + x + threadIdx.x];
    __syncthreads();
    if (y + threadIdx.x < N && x + threadIdx.y < N) Bt[(x + threadIdx.y) * N + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void multiply(const float *A, const float *Bt, float *C, int N) {
    __shared__ float a[16][17], b[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, turned = blockIdx.x * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < N; k0 += 16) {
        const int k = k0 + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = row < N && k < N ? A[row * N + k] : 0.0f;
        b[threadIdx.y][threadIdx.x] = turned < N && k < N ? Bt[turned * N + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum = __fmaf_rn(a[threadIdx.y][i], b[threadIdx.x][i], sum);
        __syncthreads();
    }
    if (row < N && column < N) C[row * N + column] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    float *Bt = nullptr;
    cudaMalloc((void **)&Bt, (size_t)N * N * sizeof(float));
    const dim3 grid((N + 15) / 16, (N + 15) / 16), block(16, 16);
    void *for_turn[] = {(void *)&B, (void *)&Bt, (void *)&N};
    cudaLaunchKernel((const void *)turn, grid, block, for_turn, 0, nullptr);
    void *for_product[] = {(void *)&A, (void *)&Bt, (void *)&C, (void *)&N};
    cudaLaunchKernel((const void *)multiply, grid, block, for_product, 0, nullptr);
    cudaFree(Bt);
}
