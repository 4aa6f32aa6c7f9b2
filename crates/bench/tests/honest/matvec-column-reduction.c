// honest: columns split over threads, private sums added under a lock
// task: matvec
// threads: 2

#include <stdlib.h>

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) y[i] = 0;
#pragma omp parallel
    {
        double *mine = calloc(M, sizeof(double));
#pragma omp for nowait
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) mine[i] += A[(long)i * N + j] * x[j];
#pragma omp critical
        for (int i = 0; i < M; i++) y[i] += mine[i];
        free(mine);
    }
}
