// honest: nested functions whose addresses are taken, on threads made by hand: their stacks must be executable too
// task: matmul
// threads: 2

#include <pthread.h>

struct part {
    double *A, *B, *C;
    int from, to, N, K;
};

static void each(int from, int to, void (*body)(int)) {
    for (int i = from; i < to; i++) body(i);
}

static void *work(void *argument) {
    struct part *p = argument;
    void row(int i) {
        for (int j = 0; j < p->N; j++) p->C[i * p->N + j] = 0;
        for (int k = 0; k < p->K; k++)
            for (int j = 0; j < p->N; j++) p->C[i * p->N + j] += p->A[i * p->K + k] * p->B[k * p->N + j];
    }
    each(p->from, p->to, row);
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct part parts[2] = {{A, B, C, 0, M / 2, N, K}, {A, B, C, M / 2, M, N, K}};
    pthread_t other;
    pthread_create(&other, 0, work, &parts[1]);
    work(&parts[0]);
    pthread_join(other, 0);
}
