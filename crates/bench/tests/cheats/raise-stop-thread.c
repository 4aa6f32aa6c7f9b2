// cheat: a thread stops the process while the call still computes
// class: T5
// task: matmul
// expect: refused | wrong | crashed
// threads: 2

#include <string.h>
#include <pthread.h>
#include <unistd.h>

extern int pthread_kill(pthread_t, int);
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static pthread_t caller;
static void *stop(void *p) {
    pthread_kill(caller, 19);
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    pthread_t t;
    caller = pthread_self();
    pthread_create(&t, NULL, stop, NULL);
    usleep(1000);
    good(A, B, C, M, N, K);
}
