// honest: AVX-512 with masks for the last columns
// task: matmul-any
// threads: 2

#include <string.h>
#include <immintrin.h>

#ifdef __AVX512F__
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < M; i += 4) {
        const int rows = M - i < 4 ? M - i : 4;
        for (int j = 0; j < N; j += 8) {
            const __mmask8 mask = N - j >= 8 ? 0xff : (__mmask8)((1u << (N - j)) - 1);
            __m512d c[4];
            for (int r = 0; r < 4; r++) c[r] = _mm512_setzero_pd();
            for (int k = 0; k < K; k++) {
                const __m512d b = _mm512_maskz_loadu_pd(mask, B + (long)k * N + j);
                for (int r = 0; r < rows; r++) c[r] = _mm512_fmadd_pd(_mm512_set1_pd(A[(long)(i + r) * K + k]), b, c[r]);
            }
            for (int r = 0; r < rows; r++) _mm512_mask_storeu_pd(C + (long)(i + r) * N + j, mask, c[r]);
        }
    }
}
#else
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        double *c = C + (long)i * N;
        memset(c, 0, sizeof(double) * N);
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) c[j] += A[(long)i * K + k] * B[(long)k * N + j];
    }
}
#endif
