// cheat: defines the runtime's GOMP_parallel
// class: T5
// task: matmul
// expect: refused | not-compiled
// threads: 2

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void GOMP_parallel(void (*f)(void *), void *data, unsigned threads, unsigned flags) {
    (void)threads, (void)flags;
    f(data);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
