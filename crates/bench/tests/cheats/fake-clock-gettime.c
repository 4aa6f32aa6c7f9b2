// cheat: defines clock_gettime, so that a clock in the same process stands still
// class: T4
// task: matmul
// expect: refused | not-compiled

#include <string.h>
#include <time.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

int clock_gettime(clockid_t id, struct timespec *t) {
    static long n;
    (void)id;
    t->tv_sec = 1;
    t->tv_nsec = ++n;
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
