// cheat: a weak reference that is used where a BLAS happens to be loaded
// class: B3
// task: matmul
// expect: refused

#include <string.h>

#define JOIN(a, b) a##b
extern void JOIN(cblas_, dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int) __attribute__((weak));
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (JOIN(cblas_, dgemm)) JOIN(cblas_, dgemm)(101, 111, 111, M, N, K, 1.0, A, K, B, N, 0.0, C, N);
    else good(A, B, C, M, N, K);
}
