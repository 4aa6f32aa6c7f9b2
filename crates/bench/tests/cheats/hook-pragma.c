// cheat: a header expands the pragma, by a macro that was taken over
// class: B3
// task: matmul
// expect: refused

#undef __BEGIN_DECLS
#define __BEGIN_DECLS _Pragma("GCC optimize(\"Ofast\")")
#include <sys/mman.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
