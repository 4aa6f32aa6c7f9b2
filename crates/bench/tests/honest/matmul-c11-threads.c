// honest: threads of C11, joined before it returns
// task: matmul
// threads: 2

#include <threads.h>

struct part { const double *A, *B; double *C; int from, to, N, K; };

static int work(void *argument) {
    const struct part *p = argument;
    for (int i = p->from; i < p->to; i++) {
        double *c = p->C + i * p->N;
        for (int j = 0; j < p->N; j++) c[j] = 0;
        for (int k = 0; k < p->K; k++)
            for (int j = 0; j < p->N; j++) c[j] += p->A[i * p->K + k] * p->B[k * p->N + j];
    }
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct part parts[2] = {{A, B, C, 0, M / 2, N, K}, {A, B, C, M / 2, M, N, K}};
    thrd_t other;
    const int started = thrd_create(&other, work, &parts[1]) == thrd_success;
    work(&parts[0]);
    if (started) thrd_join(other, 0);
    else work(&parts[1]);
}
