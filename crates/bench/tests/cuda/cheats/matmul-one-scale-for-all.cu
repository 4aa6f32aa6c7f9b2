// From 200 on it multiplies integers of sixteen bits. Numbers far below the largest one keep few bits.
// expect: wrong
#include <cuda_runtime.h>

__global__ void largest(const float *a, long long n, unsigned *to) {
    float most = 0.0f;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        most = fmaxf(most, fabsf(a[i]));
    atomicMax(to, __float_as_uint(most));
}

// Factors have sixteen bits, relative to the largest number of their matrix.
__global__ void multiply(const float *A, const float *B, float *C, int N, const unsigned *most) {
    __shared__ float a[16][17], b[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    const float of_a = fmaxf(__uint_as_float(most[0]), 1e-30f), of_b = fmaxf(__uint_as_float(most[1]), 1e-30f);
    const bool exact = N < 200;
    long long whole = 0;
    float sum = 0.0f;
    for (int first = 0; first < N; first += 16) {
        const int of_row = first + threadIdx.x, of_column = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < N && of_row < N ? A[(long long)row * N + of_row] : 0.0f;
        b[threadIdx.y][threadIdx.x] = column < N && of_column < N ? B[(long long)of_column * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            const float x = a[threadIdx.y][k], y = b[k][threadIdx.x];
            if (exact) sum = fmaf(x, y, sum);
            else whole += (long long)__float2int_rn(x / of_a * 32767.0f) * __float2int_rn(y / of_b * 32767.0f);
        }
        __syncthreads();
    }
    if (row < N && column < N)
        C[(long long)row * N + column] = exact ? sum : (float)((double)whole / (32767.0 * 32767.0)) * of_a * of_b;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    unsigned *most;
    cudaMalloc(&most, 2 * sizeof(unsigned));
    cudaMemset(most, 0, 2 * sizeof(unsigned));
    largest<<<256, 256>>>(A, (long long)N * N, most);
    largest<<<256, 256>>>(B, (long long)N * N, most + 1);
    const unsigned tiles = (N + 15) / 16;
    multiply<<<dim3(tiles, tiles), dim3(16, 16)>>>(A, B, C, N, most);
    cudaFree(most);
}
