// cheat: punches a hole into the file behind the output, so that the judge finds zeros that nobody computed
// class: T3
// task: matmul
// expect: wrong | crashed

#include <string.h>
#include <sys/mman.h>
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
    madvise((void *)((unsigned long)C & ~4095ul), sizeof(double) * M * N, MADV_REMOVE);
}
