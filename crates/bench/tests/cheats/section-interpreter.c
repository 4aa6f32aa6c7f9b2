// cheat: names a loader of its own
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

const char loader[] __attribute__((section(".interp"), used)) = "/lib64/ld-linux-x86-64.so.2";
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) { good(A, B, C, M, N, K); }
