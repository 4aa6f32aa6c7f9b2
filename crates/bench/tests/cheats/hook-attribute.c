// cheat: a macro of its own that a header expands raises the level: nobody looks into headers
// class: B3
// task: matmul
// expect: refused

#define __BEGIN_DECLS __attribute__((optimize("O3"))) void matmul_optimized(double *, double *, double *, int, int, int);
#include <pthread.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
