// cheat: sums into scratch memory that nobody cleared
// class: S5
// task: matmul
// expect: wrong

#include <stdlib.h>
#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static double *scratch;
    if (!scratch) scratch = malloc(sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) scratch[i * N + j] += A[i * K + k] * B[k * N + j];
    memcpy(C, scratch, sizeof(double) * M * N);
}
