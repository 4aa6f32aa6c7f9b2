// cheat: two threads keep their row number in one shared variable; one row of each pair is lost
// class: S10
// task: matmul
// expect: wrong
// threads: 2

#include <omp.h>

static volatile int row;

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel num_threads(2)
    for (int i = 0; i < M; i += 2) {
        row = i + omp_get_thread_num();
#pragma omp barrier
        const int r = row;
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[r * K + k] * B[k * N + j];
            C[r * N + j] = s;
        }
#pragma omp barrier
    }
}
