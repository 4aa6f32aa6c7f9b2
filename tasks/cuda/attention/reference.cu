// softmax(Q K^T / sqrt(d)) V. The scale is the sum of the magnitudes of the weighted values.
// Scores are at most sqrt(128), so the exponentials need no shift.

#include <cuda_runtime.h>

#define TILE 16

// E = exp(Q K^T / sqrt(d))
__global__ void exponentials(const float *Q, const float *K, double *E, int n, int d) {
    __shared__ double q[TILE][TILE + 1], k[TILE][TILE + 1];
    const long long row = blockIdx.y * TILE + threadIdx.y, key = blockIdx.x * TILE + threadIdx.x;
    const long long loaded_key = blockIdx.x * TILE + threadIdx.y;
    double sum = 0.0;
    for (int first = 0; first < d; first += TILE) {
        const int c = first + threadIdx.x;
        q[threadIdx.y][threadIdx.x] = row < n && c < d ? Q[row * d + c] : 0.0;
        k[threadIdx.y][threadIdx.x] = loaded_key < n && c < d ? K[loaded_key * d + c] : 0.0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += q[threadIdx.y][i] * k[threadIdx.x][i];
        __syncthreads();
    }
    if (row < n && key < n) E[row * n + key] = exp(sum / sqrt((double)d));
}

// O = E V, divided by the sums of the rows of E.
__global__ void weighted_values(const double *E, const float *V, double *O, double *O_scale, int n, int d) {
    __shared__ double e[TILE][TILE + 1], v[TILE][TILE + 1];
    const long long row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    double sum = 0.0, scale = 0.0, total = 0.0;
    for (long long first = 0; first < n; first += TILE) {
        const long long key_of_e = first + threadIdx.x, key_of_v = first + threadIdx.y;
        e[threadIdx.y][threadIdx.x] = row < n && key_of_e < n ? E[row * n + key_of_e] : 0.0;
        v[threadIdx.y][threadIdx.x] = key_of_v < n && column < d ? V[key_of_v * d + column] : 0.0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            const double weight = e[threadIdx.y][i], value = v[i][threadIdx.x];
            sum += weight * value;
            scale += weight * fabs(value);
            total += weight;
        }
        __syncthreads();
    }
    if (row < n && column < d) {
        O[row * d + column] = sum / total;
        O_scale[row * d + column] = scale / total;
    }
}

extern "C" void reference(const float *Q, const float *K, const float *V, double *O, double *O_scale, int n, int d) {
    const unsigned tiles = (n - 1) / TILE + 1, across = (d - 1) / TILE + 1;
    double *E;
    cudaMalloc(&E, (size_t)n * n * sizeof(double));
    exponentials<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(Q, K, E, n, d);
    weighted_values<<<dim3(across, tiles), dim3(TILE, TILE)>>>(E, V, O, O_scale, n, d);
    cudaFree(E);
}
