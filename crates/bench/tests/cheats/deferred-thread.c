// cheat: a detached thread does the work after the call has returned
// class: T2
// task: matmul
// expect: wrong | crashed
// threads: 2

#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

struct job { double *A, *B, *C; int M, N, K; };
static void *later(void *p) {
    struct job *j = p;
    usleep(3000);
    good(j->A, j->B, j->C, j->M, j->N, j->K);
    return NULL;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct job *j = malloc(sizeof *j);
    *j = (struct job){A, B, C, M, N, K};
    pthread_t t;
    if (!pthread_create(&t, NULL, later, j)) pthread_detach(t);
}
