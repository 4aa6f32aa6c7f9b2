// cheat: includes itself by another name, so that what it holds there seems to come from elsewhere
// class: sandbox
// task: matmul
// expect: refused

#ifndef AGAIN
#define AGAIN
#include "./candidate.c"
#else
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
    __asm__ volatile("syscall");
}
#endif
