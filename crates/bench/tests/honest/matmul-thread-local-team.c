// honest: every thread of the team has scratch of its own, by `_Thread_local` and by `threadprivate`
// task: matmul
// threads: 2

#include <string.h>

static _Thread_local double column[256];
static double sums[256];
#pragma omp threadprivate(sums)

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for schedule(static)
    for (int j = 0; j < N; j++) {
        for (int k = 0; k < K; k++) column[k] = B[k * N + j];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < M; i++)
            for (int k = 0; k < K; k++) sums[i] += A[i * K + k] * column[k];
        for (int i = 0; i < M; i++) C[i * N + j] = sums[i];
    }
}
