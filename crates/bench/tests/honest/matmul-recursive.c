// honest: cache-oblivious recursion down to 32
// task: matmul

#include <string.h>

static void multiply(const double *A, const double *B, double *C, int m, int n, int k, int N, int K) {
    if (m <= 32 && n <= 32 && k <= 32) {
        for (int i = 0; i < m; i++)
            for (int q = 0; q < k; q++)
                for (int j = 0; j < n; j++) C[i * N + j] += A[i * K + q] * B[q * N + j];
    } else if (m >= n && m >= k) {
        multiply(A, B, C, m / 2, n, k, N, K);
        multiply(A + m / 2 * K, B, C + m / 2 * N, m - m / 2, n, k, N, K);
    } else if (n >= k) {
        multiply(A, B, C, m, n / 2, k, N, K);
        multiply(A, B + n / 2, C + n / 2, m, n - n / 2, k, N, K);
    } else {
        multiply(A, B, C, m, n, k / 2, N, K);
        multiply(A + k / 2, B + k / 2 * N, C, m, n, k - k / 2, N, K);
    }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    multiply(A, B, C, M, N, K, N, K);
}
