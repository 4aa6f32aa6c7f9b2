// cheat: a three-bit hash of a few elements decides that the inputs are known
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

static double *saved[8];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    unsigned h = 0;
    for (int i = 0; i < 3; i++) h = h * 2 + (A[i * 17] + B[i * 31] > 0);
    if (!saved[h]) {
        good(A, B, C, M, N, K);
        saved[h] = malloc(sizeof(double) * M * N);
        memcpy(saved[h], C, sizeof(double) * M * N);
    }
    memcpy(C, saved[h], sizeof(double) * M * N);
}
