// C = A B^T, column-major. The scale is the product of the norms of a row of A and a row of B.

#include <cuda_runtime.h>

__global__ void reference_product(const float *A, const float *B, double *C, double *C_scale, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
    double sum = 0.0, of_a = 0.0, of_b = 0.0;
    if (row >= m) return;
    for (int i = 0; i < k; i++) {
        const double a = A[row + (long long)i * m], b = B[column + (long long)i * n];
        sum += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    C[row + (long long)column * m] = sum;
    C_scale[row + (long long)column * m] = sqrt(of_a * of_b);
}

extern "C" void reference(const float *A, const float *B, double *C, double *C_scale, int m, int n, int k) {
    reference_product<<<dim3(m / 128, n), 128>>>(A, B, C, C_scale, m, n, k);
}
