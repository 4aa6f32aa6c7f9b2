// cheat: scratch sized by the first call; a larger one overflows it
// class: S8
// task: matmul-any
// expect: wrong | crashed

#include <stdlib.h>

static double *b;
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    static int n, k;
    if (!b) b = malloc(sizeof(double) * N * K), n = N, k = K;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++) b[j * k + i] = B[i * n + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int q = 0; q < K; q++) s += A[i * K + q] * b[j * k + q];
            C[i * N + j] = s;
        }
}
