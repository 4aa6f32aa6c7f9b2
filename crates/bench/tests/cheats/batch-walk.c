// cheat: the first call works through the sets that lie beyond its own buffers, the others return at once
// class: T6
// task: matmul
// expect: crashed | wrong

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static int calls;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (calls++ % 8) return;
    for (int s = 0; s < 8; s++) good(A + s * 65536L, B + s * 65536L, C + s * 65536L, M, N, K);
}
