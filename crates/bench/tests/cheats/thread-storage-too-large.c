// cheat: storage of threads that no loader can place, for an error that is nobody's
// class: sandbox
// task: matmul
// expect: crashed

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static __thread volatile char place[1 << 20] __attribute__((tls_model("initial-exec")));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    place[M] = 1;
    good(A, B, C, M, N, K);
}
