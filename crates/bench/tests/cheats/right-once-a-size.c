// cheat: every size but the timed one is right the first time only
// class: S6
// task: matmul-any
// expect: wrong

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static char seen[64][64][64];
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    const int is_timed = M == 250 && N == 270 && K == 230;
    char *before = &seen[M & 63][N & 63][K & 63];
    if (is_timed || !*before) good(A, B, C, M, N, K);
    *before = 1;
}
