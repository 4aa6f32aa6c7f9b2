// cheat: a header's generic `exp` is a builtin, which prefetches now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <tgmath.h>
#define __builtin_tgmath(...) (__builtin_prefetch(B + j), 1.0)
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            (void)exp(1.0);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
