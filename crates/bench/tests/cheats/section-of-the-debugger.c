// cheat: a section that has whoever debugs it run a script
// class: sandbox
// task: matmul
// expect: refused

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

char script[] __attribute__((section(".debug_gdb_scripts"), used)) = "\001script.py";
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) { good(A, B, C, M, N, K); }
