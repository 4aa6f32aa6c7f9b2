// cheat: each call finishes the work of the one before it
// class: T3
// task: matmul
// expect: wrong | suspect

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double *a, *b, *c;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (c) good(a, b, c, M, N, K);
    a = A, b = B, c = C;
}
