// cheat: a variable that wants to begin at a multiple of more memory than there is
// class: sandbox
// task: matmul
// expect: crashed | not-compiled | refused

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static char place[64] __attribute__((aligned(1ul << 28)));
static char other[64] __attribute__((aligned(1ul << 28))) = {1};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    ((volatile char *)place)[M & 63] = ((volatile char *)other)[0];
    good(A, B, C, M, N, K);
}
