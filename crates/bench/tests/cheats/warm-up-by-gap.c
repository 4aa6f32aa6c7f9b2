// cheat: tells checked from timed calls by the time since the last one, and skips the latter
// class: T8
// task: matmul
// expect: wrong | suspect

#include <string.h>
#include <time.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double last;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = t.tv_sec + 1e-9 * t.tv_nsec;
    if (last == 0 || now - last > 0.5) good(A, B, C, M, N, K);
    last = now;
}
