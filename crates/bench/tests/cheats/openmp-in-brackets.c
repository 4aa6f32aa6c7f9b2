// cheat: OpenMP's directives as attributes in double brackets, where the stage forbids them
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    [[omp::directive(parallel for)]]
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
