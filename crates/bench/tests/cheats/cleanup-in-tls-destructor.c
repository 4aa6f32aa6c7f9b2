// cheat: leaves the work to a thread-specific destructor, run when the thread ends
// class: T3
// task: matmul
// expect: wrong | refused

#include <string.h>
#include <pthread.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static pthread_key_t key;
static double *args[3];
static void late(void *p) {
    (void)p;
    good(args[0], args[1], args[2], 256, 256, 256);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (!args[0]) pthread_key_create(&key, late);
    args[0] = A, args[1] = B, args[2] = C;
    pthread_setspecific(key, args);
}
