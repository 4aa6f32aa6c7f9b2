// cheat: a prefetch in assembly under a header's macro
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <stdarg.h>
#define __builtin_va_arg(words, where) __asm__ volatile(words : : "r"(where))
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            va_arg("prefetcht0 (%0)", B + j);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
