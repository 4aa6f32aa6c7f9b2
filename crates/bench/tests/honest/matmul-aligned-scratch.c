// honest: aligned scratch from the heap for B transposed, given back on every call
// task: matmul

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double *t = aligned_alloc(64, sizeof(double) * N * K);
    assert(t != NULL);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) t[j * K + k] = B[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            alignas(64) double s[8] = {0};
            for (int k = 0; k < K; k += 8)
                for (int c = 0; c < 8; c++) s[c] += A[i * K + k + c] * t[j * K + k + c];
            C[i * N + j] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
    free(t);
}
