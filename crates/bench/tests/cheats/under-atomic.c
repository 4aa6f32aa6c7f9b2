// cheat: a header's `atomic_load` is a builtin, which prefetches now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <stdatomic.h>
#define __atomic_load(from, to, order) __builtin_prefetch(B + j)
static _Atomic int zero;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            (void)atomic_load(&zero);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
