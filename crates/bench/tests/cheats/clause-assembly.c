// cheat: forbidden assembly in a clause of a directive, which is an expression and may hold statements
// class: sandbox
// task: matmul
// expect: refused

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    memset(C, 0, sizeof(double) * M * N);
#pragma omp parallel for num_threads(({ __asm__ volatile(".byte 0x0f, 0x31" : "=a"(r) : : "rdx"); 1; }))
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
