// cheat: OpenMP tasks that a thread outside the call runs later
// class: T1
// task: matmul
// expect: wrong | crashed
// threads: 2

#include <pthread.h>
#include <unistd.h>

static double *a, *b, *c;
static int m, n, kk;
static void *region(void *p) {
    usleep(2000);
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < kk; k++) s += a[i * kk + k] * b[k * n + j];
            c[i * n + j] = s;
        }
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    a = A, b = B, c = C, m = M, n = N, kk = K;
    pthread_t t;
    if (!pthread_create(&t, NULL, region, NULL)) pthread_detach(t);
}
