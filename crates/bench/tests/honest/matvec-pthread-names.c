// honest: two threads by hand with a mutex and its attributes, and helpers with names of their kind
// task: matvec
// threads: 2

#include <pthread.h>

typedef struct { const double *A, *x; double *y; int M, N, next; pthread_mutex_t lock; } job;

int pthread_next_row(job *j) {
    pthread_mutex_lock(&j->lock);
    const int row = j->next;
    j->next += 16;
    pthread_mutex_unlock(&j->lock);
    return row;
}

static void *pthread_rows(void *argument) {
    job *j = argument;
    for (int from; (from = pthread_next_row(j)) < j->M;)
        for (int i = from; i < from + 16 && i < j->M; i++) {
            double s = 0;
            for (int k = 0; k < j->N; k++) s += j->A[(long)i * j->N + k] * j->x[k];
            j->y[i] = s;
        }
    return 0;
}

void matvec(double *A, double *x, double *y, int M, int N) {
    job j = {.A = A, .x = x, .y = y, .M = M, .N = N};
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutex_init(&j.lock, &kind);
    pthread_t other;
    const int alone = pthread_create(&other, 0, pthread_rows, &j);
    pthread_rows(&j);
    if (!alone) pthread_join(other, 0);
    pthread_mutex_destroy(&j.lock);
    pthread_mutexattr_destroy(&kind);
}
