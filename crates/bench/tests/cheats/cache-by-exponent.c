// cheat: recognises an "already seen" input by the sign and exponent of its first element
// class: T7
// task: matmul
// expect: wrong

#include <stdlib.h>
#include <string.h>
#include <stdint.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double *saved[4096];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    uint64_t bits;
    memcpy(&bits, A, 8);
    double **slot = &saved[bits >> 52];
    if (!*slot) {
        good(A, B, C, M, N, K);
        *slot = malloc(sizeof(double) * M * N);
        memcpy(*slot, C, sizeof(double) * M * N);
    }
    memcpy(C, *slot, sizeof(double) * M * N);
}
