// honest: two threads that wait for each other by semaphores
// task: matmul
// threads: 2

#include <pthread.h>
#include <semaphore.h>

struct half {
    double *A, *B, *C;
    int rows, N, K;
    sem_t *begin, *done;
};
static void *work(void *of) {
    struct half *h = of;
    sem_wait(h->begin);
    for (int i = 0; i < h->rows; i++) {
        for (int j = 0; j < h->N; j++) h->C[i * h->N + j] = 0;
        for (int k = 0; k < h->K; k++)
            for (int j = 0; j < h->N; j++) h->C[i * h->N + j] += h->A[i * h->K + k] * h->B[k * h->N + j];
    }
    sem_post(h->done);
    return 0;
}
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    sem_t begin, done;
    sem_init(&begin, 0, 0);
    sem_init(&done, 0, 0);
    int first = M / 2;
    struct half upper = {A, B, C, first, N, K, &begin, &done};
    struct half lower = {A + first * K, B, C + first * N, M - first, N, K, &begin, &done};
    pthread_t other;
    pthread_create(&other, 0, work, &upper);
    sem_post(&begin);
    sem_post(&begin);
    work(&lower);
    sem_wait(&done);
    sem_wait(&done);
    pthread_join(other, 0);
    sem_destroy(&begin);
    sem_destroy(&done);
}
