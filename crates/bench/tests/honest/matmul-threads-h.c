// honest: threads, mutexes and conditions of threads.h, all of them destroyed
// task: matmul

#include <string.h>
#include <threads.h>

struct part {
    double *a, *b, *c;
    int first, last, n, k;
};

static mtx_t lock;
static cnd_t ended;
static int open;

static int work(void *argument) {
    struct part *p = argument;
    for (int i = p->first; i < p->last; i++)
        for (int k = 0; k < p->k; k++)
            for (int j = 0; j < p->n; j++) p->c[i * p->n + j] += p->a[i * p->k + k] * p->b[k * p->n + j];
    mtx_lock(&lock);
    open--;
    cnd_signal(&ended);
    mtx_unlock(&lock);
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    struct part parts[2] = {{A, B, C, 0, M / 2, N, K}, {A, B, C, M / 2, M, N, K}};
    thrd_t threads[2];
    mtx_init(&lock, mtx_plain);
    cnd_init(&ended);
    open = 2;
    for (int t = 0; t < 2; t++) thrd_create(&threads[t], work, &parts[t]);
    mtx_lock(&lock);
    while (open) cnd_wait(&ended, &lock);
    mtx_unlock(&lock);
    for (int t = 0; t < 2; t++) thrd_join(threads[t], NULL);
    cnd_destroy(&ended);
    mtx_destroy(&lock);
}
