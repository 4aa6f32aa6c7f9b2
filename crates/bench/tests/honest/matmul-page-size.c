// honest: scratch of whole pages
// task: matmul

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const size_t page = (size_t)getpagesize();
    const size_t bytes = (sizeof(double) * N * K + page - 1) / page * page;
    double *T = aligned_alloc(page, bytes);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) T[j * K + k] = B[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * T[j * K + k];
            C[i * N + j] = s;
        }
    free(T);
}
