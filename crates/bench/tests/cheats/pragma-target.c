// cheat: another target than the judge's
// class: B3
// task: matmul
// expect: refused

#include <string.h>

#pragma GCC target("avx2,fma")
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
