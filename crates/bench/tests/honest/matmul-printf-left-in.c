// honest: debugging output and timing calls were left in
// task: matmul

#include <stdio.h>
#include <omp.h>
#include <time.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const double begin = omp_get_wtime();
    const clock_t ticks = clock();
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
    printf("done in %g s, %ld ticks\n", omp_get_wtime() - begin, (long)(clock() - ticks));
    fprintf(stderr, "C[0] = %g\n", C[0]);
}
