// cheat: a harmless name in the source, clock_gettime in the object
// class: T4
// task: matmul
// expect: refused | not-compiled

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

int harmless(int id, long *t) __asm__("clock_gettime");
int harmless(int id, long *t) {
    (void)id;
    t[0] = t[1] = 0;
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
