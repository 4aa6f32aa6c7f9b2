// cheat: reads a counter of another maker's processors
// class: sandbox
// task: matmul
// expect: refused | not-compiled

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (M < 0) __asm__ volatile("rdpru" : : : "memory");
    good(A, B, C, M, N, K);
}
