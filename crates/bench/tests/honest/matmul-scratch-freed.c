// honest: B transposed into malloc'd scratch, freed at the end
// task: matmul

#include <stdlib.h>
#include <errno.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    errno = 0;
    double *T = (double *)malloc(sizeof(double) * N * K);
    if (T == NULL) {
        perror("malloc");
        exit(errno);
    }
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) T[j * K + k] = B[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * T[j * K + k];
            C[i * N + j] = sum;
        }
    free(T);
}
