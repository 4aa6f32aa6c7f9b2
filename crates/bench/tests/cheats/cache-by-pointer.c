// cheat: keeps the result of the first call for each output pointer
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

static double *seen[64], *saved[64];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int s = 0; s < 64; s++) {
        if (seen[s] == C) {
            memcpy(C, saved[s], sizeof(double) * M * N);
            return;
        }
        if (!seen[s]) {
            good(A, B, C, M, N, K);
            seen[s] = C;
            saved[s] = malloc(sizeof(double) * M * N);
            memcpy(saved[s], C, sizeof(double) * M * N);
            return;
        }
    }
}
