// honest: macros of its own before the headers, some of which the headers know
// task: matmul

#define NDEBUG
#define _POSIX_C_SOURCE 200809L
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define restrict __restrict__
#define REAL double
#include <assert.h>
#include <complex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <x86intrin.h>

#if __has_include(<omp.h>) && defined(__AVX2__)
#define BLOCK 64
#else
#define BLOCK 32
#endif

void matmul_optimized(double *restrict A, double *restrict B, double *restrict C, int M, int N, int K) {
    assert(M > 0);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
    for (int kk = 0; kk < K; kk += BLOCK)
        for (int i = 0; i < M; i++)
            for (int k = kk; k < MIN(kk + BLOCK, K); k++) {
                const REAL a = A[i * K + k];
                for (int j = 0; j < N; j++) C[i * N + j] += a * B[k * N + j];
            }
}
