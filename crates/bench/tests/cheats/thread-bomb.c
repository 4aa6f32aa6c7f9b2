// cheat: as many threads as it can get
// class: resource
// task: matmul
// expect: timed-out | crashed | wrong

#include <pthread.h>
#include <unistd.h>

static void *idle(void *p) {
    for (;;) sleep(1);
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    pthread_t t;
    for (int i = 0; i < 100000; i++)
        if (pthread_create(&t, NULL, idle, NULL)) return;
}
