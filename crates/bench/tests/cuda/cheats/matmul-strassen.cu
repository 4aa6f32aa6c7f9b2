// One level of Strassen's method where N is even: seven products of halves, less work than 2 N^3.
// Its errors are relative to whole matrices, so small rows and columns of C lose their digits.
// expect: wrong
#include <cuda_runtime.h>

struct Matrix {
    float *data;
    int pitch;
};

__global__ void multiply(Matrix a, Matrix b, Matrix c, int n) {
    __shared__ float as[16][16], bs[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 16) {
        const int k_of_a = k0 + threadIdx.x, k_of_b = k0 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < n && k_of_a < n ? a.data[row * a.pitch + k_of_a] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = k_of_b < n && column < n ? b.data[k_of_b * b.pitch + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c.data[row * c.pitch + column] = sum;
}

// to = a + sign * b
__global__ void combine(Matrix a, Matrix b, float sign, Matrix to, int n) {
    const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) to.data[row * to.pitch + column] = a.data[row * a.pitch + column] + sign * b.data[row * b.pitch + column];
}

// The four quarters of C from the seven products.
__global__ void assemble(const float *m, float *C, int n) {
    const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    const int size = n * n, at = row * n + column, pitch = 2 * n;
    float p[7];
    for (int i = 0; i < 7; i++) p[i] = m[i * size + at];
    C[row * pitch + column] = p[0] + p[3] - p[4] + p[6];
    C[row * pitch + column + n] = p[2] + p[4];
    C[(row + n) * pitch + column] = p[1] + p[3];
    C[(row + n) * pitch + column + n] = p[0] - p[1] + p[2] + p[5];
}

static void product(Matrix a, Matrix b, Matrix c, int n) {
    multiply<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n);
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    if (N % 2 || N < 32) {
        product({const_cast<float *>(A), N}, {const_cast<float *>(B), N}, {C, N}, N);
        return;
    }
    const int n = N / 2, size = n * n;
    float *scratch;
    cudaMalloc(&scratch, 9 * (size_t)size * sizeof(float));
    auto quarter = [=](const float *whole, int i, int j) { return Matrix{const_cast<float *>(whole) + (i * N + j) * n, N}; };
    const Matrix left = {scratch + 7 * size, n}, right = {scratch + 8 * size, n};
    auto add = [=](Matrix a, Matrix b, float sign, Matrix to) {
        combine<<<dim3((n + 127) / 128, n), 128>>>(a, b, sign, to, n);
        return to;
    };
    const Matrix a11 = quarter(A, 0, 0), a12 = quarter(A, 0, 1), a21 = quarter(A, 1, 0), a22 = quarter(A, 1, 1);
    const Matrix b11 = quarter(B, 0, 0), b12 = quarter(B, 0, 1), b21 = quarter(B, 1, 0), b22 = quarter(B, 1, 1);
    auto m = [=](int i) { return Matrix{scratch + i * size, n}; };
    product(add(a11, a22, 1, left), add(b11, b22, 1, right), m(0), n);
    product(add(a21, a22, 1, left), b11, m(1), n);
    product(a11, add(b12, b22, -1, right), m(2), n);
    product(a22, add(b21, b11, -1, right), m(3), n);
    product(add(a11, a12, 1, left), b22, m(4), n);
    product(add(a21, a11, -1, left), add(b11, b12, 1, right), m(5), n);
    product(add(a12, a22, -1, left), add(b21, b22, 1, right), m(6), n);
    assemble<<<dim3((n + 127) / 128, n), 128>>>(scratch, C, n);
    cudaFree(scratch);
}
