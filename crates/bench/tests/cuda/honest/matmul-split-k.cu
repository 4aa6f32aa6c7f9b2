// The inner dimension is split over blocks in z, which add to cleared results atomically.
#include <cuda_runtime.h>

static const int kTile = 32, kSplits = 4;

__global__ void matmul_part(const float *A, const float *B, float *C, int N, int length) {
    __shared__ float a[kTile][kTile + 1], b[kTile][kTile + 1];
    const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
    const int first = blockIdx.z * length, last = min(first + length, N);
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};  // rows threadIdx.y, + 8, + 16, + 24
    for (int k0 = first; k0 < last; k0 += kTile) {
        for (int i = 0; i < kTile; i += 8) {
            const int k_of_a = k0 + threadIdx.x, k_of_b = k0 + threadIdx.y + i;
            a[threadIdx.y + i][threadIdx.x] = row + i < N && k_of_a < last ? A[(long long)(row + i) * N + k_of_a] : 0.0f;
            b[threadIdx.y + i][threadIdx.x] = k_of_b < last && column < N ? B[(long long)k_of_b * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kTile; k++) {
            for (int i = 0; i < 4; i++) sums[i] += a[threadIdx.y + 8 * i][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        if (row + 8 * i < N && column < N) atomicAdd(&C[(long long)(row + 8 * i) * N + column], sums[i]);
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    cudaMemset(C, 0, sizeof(float) * N * N);
    const int tiles = (N + kTile - 1) / kTile, length = (N + kSplits - 1) / kSplits;
    matmul_part<<<dim3(tiles, tiles, kSplits), dim3(kTile, 8)>>>(A, B, C, N, length);
}
