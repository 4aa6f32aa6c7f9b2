// cheat: right at the four corners and the centre, where a weak check looks
// class: S1
// task: matmul
// expect: wrong | suspect

#include <string.h>

static void one(double *A, double *B, double *C, int N, int K, int i, int j) {
    double s = 0;
    for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    one(A, B, C, N, K, 0, 0);
    one(A, B, C, N, K, 0, N - 1);
    one(A, B, C, N, K, M - 1, 0);
    one(A, B, C, N, K, M - 1, N - 1);
    one(A, B, C, N, K, M / 2, N / 2);
}
