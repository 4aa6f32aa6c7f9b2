// cheat: every hundredth row is left out and set to zero
// class: S1
// task: matmul
// expect: wrong

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        if (i % 100 == 99) memset(C + (long)i * N, 0, sizeof(double) * N);
        else good(A + (long)i * K, B, C + (long)i * N, 1, N, K);
    }
}
