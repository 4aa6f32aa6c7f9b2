// honest: mutexes, conditions and locks with attributes of their own
// task: matmul

#include <pthread.h>
#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    pthread_mutexattr_t kind;
    pthread_mutex_t lock;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_destroy(&how);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
}
