// honest: one row by 64 columns in eight registers, with prefetch
// task: matmul
// threads: 2

#include <string.h>
#include <immintrin.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 64) {
#ifdef __AVX512F__
            __m512d c[8];
            for (int v = 0; v < 8; v++) c[v] = _mm512_setzero_pd();
            for (int k = 0; k < K; k++) {
                const double *b = B + (long)k * N + j;
                _mm_prefetch((const char *)(b + 2 * N), _MM_HINT_T0);
                const __m512d a = _mm512_set1_pd(A[(long)i * K + k]);
                for (int v = 0; v < 8; v++) c[v] = _mm512_fmadd_pd(a, _mm512_loadu_pd(b + 8 * v), c[v]);
            }
            for (int v = 0; v < 8; v++) _mm512_storeu_pd(C + (long)i * N + j + 8 * v, c[v]);
#else
            double c[64] = {0};
            for (int k = 0; k < K; k++)
                for (int v = 0; v < 64; v++) c[v] += A[(long)i * K + k] * B[(long)k * N + j + v];
            memcpy(C + (long)i * N + j, c, sizeof c);
#endif
        }
}
