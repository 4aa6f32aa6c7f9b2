// honest: expert; packed panels of B and an 8 x 24 tile in 24 registers, OpenMP over panels
// task: matmul
// threads: 2

#include <stdlib.h>
#include <string.h>
#include <immintrin.h>

#ifdef __AVX512F__
static inline __attribute__((always_inline)) void tile(const double *a, int K, const double *panel, double *c, int N, int vectors) {
    __m512d sum[8][3];
    for (int r = 0; r < 8; r++)
        for (int v = 0; v < 3; v++) sum[r][v] = _mm512_setzero_pd();
    for (int k = 0; k < K; k++, panel += 8 * vectors) {
        __m512d b[3];
        for (int v = 0; v < vectors; v++) b[v] = _mm512_load_pd(panel + 8 * v);
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++) {
            const __m512d x = _mm512_set1_pd(a[(long)r * K + k]);
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++) sum[r][v] = _mm512_fmadd_pd(x, b[v], sum[r][v]);
        }
    }
    for (int r = 0; r < 8; r++)
        for (int v = 0; v < vectors; v++) _mm512_storeu_pd(c + (long)r * N + 8 * v, sum[r][v]);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel
    {
        double *panel = aligned_alloc(64, sizeof(double) * 24 * K);
#pragma omp for schedule(static)
        for (int j = 0; j < N; j += 24) {
            const int vectors = N - j >= 24 ? 3 : (N - j) / 8;
            for (int k = 0; k < K; k++)
                for (int v = 0; v < vectors; v++)
                    _mm512_store_pd(panel + 8L * (k * vectors + v), _mm512_loadu_pd(B + (long)k * N + j + 8 * v));
            for (int i = 0; i < M; i += 8) {
                if (vectors == 3) tile(A + (long)i * K, K, panel, C + (long)i * N + j, N, 3);
                else if (vectors == 2) tile(A + (long)i * K, K, panel, C + (long)i * N + j, N, 2);
                else tile(A + (long)i * K, K, panel, C + (long)i * N + j, N, 1);
            }
        }
        free(panel);
    }
}
#else
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
#endif
