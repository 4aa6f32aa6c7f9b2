// honest: global functions of its own that are named like those of libraries
// task: matmul

#include <string.h>

void omp_row_kernel(const double *a, const double *b, double *c, int n, int k) {
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++) c[j] += a[p] * b[p * n + j];
}

void pthread_worker(const double *a, const double *b, double *c, int first, int last, int n, int k) {
    for (int i = first; i < last; i++) omp_row_kernel(a + i * k, b, c + i * n, n, k);
}

double bli_scale = 1.0;

void cblas_like_driver(const double *a, const double *b, double *c, int m, int n, int k) {
    pthread_worker(a, b, c, 0, m, n, k);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    cblas_like_driver(A, B, C, M, N, K);
}
