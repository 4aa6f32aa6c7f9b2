// cheat: a header's `errno` calls `__errno_location`, which prefetches now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <errno.h>
static int zero;
#define __errno_location() ({ __builtin_prefetch(B + j); &zero; })
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            errno;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
