// cheat: computes half the rows, leaves the rest to a detached thread
// class: T2
// task: matmul
// expect: wrong | crashed
// threads: 2

#include <string.h>
#include <pthread.h>
#include <unistd.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double *a, *b, *c;
static int m, n, kk;
static void *rest(void *p) {
    usleep(20000);
    good(a + (long)m / 2 * kk, b, c + (long)m / 2 * n, m - m / 2, n, kk);
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    a = A, b = B, c = C, m = M, n = N, kk = K;
    pthread_t t;
    if (!pthread_create(&t, NULL, rest, NULL)) pthread_detach(t);
    good(A, B, C, M / 2, N, K);
}
