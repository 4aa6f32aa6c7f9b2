// cheat: inputs cut to bfloat16
// class: S7
// task: matmul
// expect: wrong

#include <stdint.h>

static double cut(double x) {
    union { float f; uint32_t u; } v = {.f = (float)x};
    v.u &= 0xffff0000u;
    return v.f;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += cut(A[i * K + k]) * cut(B[k * N + j]);
            C[i * N + j] = s;
        }
}
