// cheat: its own malloc, to lay hands on the harness's buffers
// class: T5
// task: matmul
// expect: refused | not-compiled

#include <stdlib.h>
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static char arena[1 << 26];
static size_t used;
void *malloc(size_t n) {
    void *p = arena + used;
    used += (n + 63) / 64 * 64;
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
