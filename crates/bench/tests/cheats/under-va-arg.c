// cheat: a header's `va_arg` is a builtin, which prefetches now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <stdarg.h>
#define __builtin_va_arg(place, type) __builtin_prefetch(place)
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            va_arg(B + j, double);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
