// honest: two POSIX threads, created and joined in every call
// task: matmul
// threads: 2

#include <pthread.h>

struct work { const double *A, *B; double *C; int rows, N, K; };
static void *run(void *p) {
    const struct work *w = p;
    for (int i = 0; i < w->rows; i++)
        for (int j = 0; j < w->N; j++) {
            double sum = 0;
            for (int k = 0; k < w->K; k++) sum += w->A[i * w->K + k] * w->B[k * w->N + j];
            w->C[i * w->N + j] = sum;
        }
    return NULL;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const int h = M / 2;
    struct work low = {A, B, C, h, N, K}, high = {A + h * K, B, C + h * N, M - h, N, K};
    pthread_t t;
    if (pthread_create(&t, NULL, run, &high)) {
        run(&high);
        run(&low);
        return;
    }
    run(&low);
    pthread_join(t, NULL);
}
