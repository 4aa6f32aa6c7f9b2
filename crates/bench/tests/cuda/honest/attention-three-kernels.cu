// The matrix of scores lies in scratch memory: a product, a softmax in place, another product.
#include <cuda_runtime.h>

#include <cmath>

#define TILE 16

// C = factor * A B, with rows of A and columns of B given by strides; the sizes are m x k and k x n.
__global__ void product(const float *A, const float *B, float *C, int m, int n, int k, int b_down, int b_across, float factor) {
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        const int of_a = first + threadIdx.x, of_b = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < m && of_a < k ? A[(long long)row * k + of_a] : 0.0f;
        b[threadIdx.y][threadIdx.x] = of_b < k && column < n ? B[(long long)of_b * b_down + (long long)column * b_across] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) C[(long long)row * n + column] = sum * factor;
}

__global__ void softmax_rows(float *S, int n) {
    __shared__ float parts[128];
    float *row = S + (long long)blockIdx.x * n;
    float largest = -1e30f, sum = 0.0f;
    for (int j = threadIdx.x; j < n; j += 128) largest = fmaxf(largest, row[j]);
    parts[threadIdx.x] = largest;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    largest = parts[0];
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += 128) {
        row[j] = expf(row[j] - largest);
        sum += row[j];
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    for (int j = threadIdx.x; j < n; j += 128) row[j] /= parts[0];
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    float *S;
    cudaMalloc(&S, sizeof(float) * (size_t)n * n);
    const dim3 block(TILE, TILE);
    auto tiles = [](int size) { return (unsigned)((size + TILE - 1) / TILE); };
    product<<<dim3(tiles(n), tiles(n)), block>>>(Q, K, S, n, n, d, 1, d, 1.0f / sqrtf((float)d));
    softmax_rows<<<n, 128>>>(S, n);
    product<<<dim3(tiles(d), tiles(n)), block>>>(S, V, O, n, d, n, d, 1, 1.0f);
    cudaFree(S);
}
