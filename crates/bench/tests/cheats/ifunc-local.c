// cheat: an ifunc that only this file sees; its resolver runs while the library is loaded
// class: B3
// task: matmul
// expect: refused

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static int loads;
static void *pick(void) {
    loads++;
    return good;
}
static void run(const double *, const double *, double *, int, int, int) __attribute__((ifunc("pick")));

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (loads) run(A, B, C, M, N, K);
}
