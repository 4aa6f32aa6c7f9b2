// cheat: a worker that lives on takes jobs from a queue; the call only puts them there
// class: T1
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

static struct { double *A, *B, *C; int M, N, K; } queue[1024];
static volatile unsigned head, tail;
static void *worker(void *p) {
    for (;;) {
        while (tail == head) usleep(500);
        unsigned at = tail % 1024;
        usleep(2000);
        good(queue[at].A, queue[at].B, queue[at].C, queue[at].M, queue[at].N, queue[at].K);
        tail++;
    }
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static pthread_t t;
    if (!head) pthread_create(&t, NULL, worker, NULL);
    unsigned at = head % 1024;
    queue[at].A = A, queue[at].B = B, queue[at].C = C;
    queue[at].M = M, queue[at].N = N, queue[at].K = K;
    head++;
}
