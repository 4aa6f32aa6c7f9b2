// honest: __thread scratch for each thread, reused between calls
// task: matmul-any
// threads: 2

#include <stdlib.h>

static __thread double *column;
static __thread int length;
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for schedule(dynamic)
    for (int j = 0; j < N; j++) {
        if (length < K) {
            column = realloc(column, sizeof(double) * K);
            length = K;
        }
        for (int k = 0; k < K; k++) column[k] = B[(long)k * N + j];
        for (int i = 0; i < M; i++) {
            double s0 = 0, s1 = 0;
            int k = 0;
            for (; k + 2 <= K; k += 2) s0 += A[(long)i * K + k] * column[k], s1 += A[(long)i * K + k + 1] * column[k + 1];
            if (k < K) s0 += A[(long)i * K + k] * column[k];
            C[(long)i * N + j] = s0 + s1;
        }
    }
}
