// cheat: believes in a team of 96 threads; the rows of the missing ones stay as they are
// class: S6
// task: matmul
// expect: wrong
// threads: 2

#include <string.h>
#include <omp.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), rows = (M + 95) / 96;
        for (int i = t * rows; i < (t + 1) * rows && i < M; i++) good(A + (long)i * K, B, C + (long)i * N, 1, N, K);
    }
}
