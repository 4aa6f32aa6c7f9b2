// cheat: an address within an instruction, written down as a constant distance from where the code runs
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

/* The constant spells `pause; ret`. */
__attribute__((noinline, used)) static long hidden(void) { return 0xc390f3c390f3l; }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void (*within)(void) = (void (*)(void))((char *)hidden + 6);
    within();
    good(A, B, C, M, N, K);
}
