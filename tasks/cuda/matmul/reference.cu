// C = A B, row-major. The scale of an element is the product of the norms of its row and column:
// honest rounding errors are a small multiple of it in any order of summation and at any N.

#include <cuda_runtime.h>

#define TILE 16
#define THREADS 256

__global__ void matmul_reference(const float *A, const float *B, double *C, double *C_scale, int N) {
    __shared__ double a[TILE][TILE], b[TILE][TILE];
    const long long row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    double sum = 0.0, a_squared = 0.0, b_squared = 0.0;
    for (long long first = 0; first < N; first += TILE) {
        const long long k_of_a = first + threadIdx.x, k_of_b = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < N && k_of_a < N ? A[row * N + k_of_a] : 0.0;
        b[threadIdx.y][threadIdx.x] = k_of_b < N && column < N ? B[k_of_b * N + column] : 0.0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            const double of_a = a[threadIdx.y][k], of_b = b[k][threadIdx.x];
            sum += of_a * of_b;
            a_squared += of_a * of_a;
            b_squared += of_b * of_b;
        }
        __syncthreads();
    }
    if (row < N && column < N) {
        C[row * N + column] = sum;
        C_scale[row * N + column] = sqrt(a_squared * b_squared);
    }
}

extern "C" void reference(const float *A, const float *B, double *C, double *C_scale, int N) {
    const unsigned tiles = (N - 1) / TILE + 1;
    matmul_reference<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(A, B, C, C_scale, N);
}

__device__ double block_sum(double value) {
    __shared__ double parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = parts[0];
    __syncthreads();
    return sum;
}

// Row by row: B x, and the sum of the row's squares.
__global__ void project_b(const float *B, const double *x, double *Bx, double *squares, int N) {
    const float *row = B + (long long)blockIdx.x * N;
    double dot = 0.0, squared = 0.0;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        dot += row[j] * x[j];
        squared += (double)row[j] * row[j];
    }
    dot = block_sum(dot);
    squared = block_sum(squared);
    if (threadIdx.x == 0) {
        Bx[blockIdx.x] = dot;
        squares[blockIdx.x] = squared;
    }
}

// Row by row: C x against A (B x), measured against the norm of the row of A times that of B.
__global__ void compare_rows(const float *A, const float *C, const double *x, const double *Bx, const double *squares, double *got, double *want, double *scale, int N) {
    const float *a = A + (long long)blockIdx.x * N, *c = C + (long long)blockIdx.x * N;
    double Cx = 0.0, ABx = 0.0, a_squared = 0.0, b_squared = 0.0;
    for (int k = threadIdx.x; k < N; k += THREADS) {
        Cx += c[k] * x[k];
        ABx += a[k] * Bx[k];
        a_squared += (double)a[k] * a[k];
        b_squared += squares[k];
    }
    Cx = block_sum(Cx);
    ABx = block_sum(ABx);
    a_squared = block_sum(a_squared);
    b_squared = block_sum(b_squared);
    if (threadIdx.x == 0) {
        got[blockIdx.x] = Cx;
        want[blockIdx.x] = ABx;
        scale[blockIdx.x] = sqrt(a_squared * b_squared);
    }
}

// Freivalds: x holds N signs. C x must be A (B x), row by row; every element of C counts.
extern "C" void check(const float *A, const float *B, const float *C, int N, const double *x, double *got, double *want, double *scale) {
    double *Bx, *squares;
    cudaMalloc(&Bx, N * sizeof(double));
    cudaMalloc(&squares, N * sizeof(double));
    project_b<<<N, THREADS>>>(B, x, Bx, squares, N);
    compare_rows<<<N, THREADS>>>(A, C, x, Bx, squares, got, want, scale, N);
    cudaFree(Bx);
    cudaFree(squares);
}
