// cheat: takes the first call for an unchecked warm-up and skips it
// class: T8
// task: matmul
// expect: wrong | suspect

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static int calls;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (calls++ == 0) return;
    good(A, B, C, M, N, K);
}
