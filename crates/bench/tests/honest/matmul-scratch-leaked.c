// honest: a small scratch row that is never freed
// task: matmul

#include <stdlib.h>
#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double *row = calloc(N, sizeof(double));
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) row[j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) row[j] += A[i * K + k] * B[k * N + j];
        memcpy(&C[i * N], row, N * sizeof(double));
    }
}
