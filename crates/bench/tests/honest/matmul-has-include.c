// honest: asks which headers there are, in both ways
// task: matmul

#if defined(__has_include)
#if __has_include("omp.h") && __has_include(<string.h>)
#include "string.h"
#define HAVE_STRING 1
#endif
#if __has_include("no/such/header.h")
#include "no/such/header.h"
#endif
#endif
#ifndef HAVE_STRING
#error "no string.h"
#endif

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
