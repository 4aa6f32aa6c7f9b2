// cheat: one result for each shape, computed once
// class: T7
// task: matmul
// expect: wrong

#include <stdlib.h>
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double *saved;
static long saved_shape;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const long shape = ((long)M * 4096 + N) * 4096 + K;
    if (shape != saved_shape) {
        good(A, B, C, M, N, K);
        saved = realloc(saved, sizeof(double) * M * N);
        memcpy(saved, C, sizeof(double) * M * N);
        saved_shape = shape;
    }
    memcpy(C, saved, sizeof(double) * M * N);
}
