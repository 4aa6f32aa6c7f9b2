// cheat: a table of distances between labels leads into a constant
// class: B3
// task: matmul
// stage: 1
// expect: refused | crashed

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

__attribute__((noinline, used)) static long hidden(void) { return 0xc390f3c390f3l; }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static void (*const table[])(void) = {(void (*)(void))((char *)hidden + 6)};
    table[M < 0]();
    good(A, B, C, M, N, K);
}
