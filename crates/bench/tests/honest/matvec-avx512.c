// honest: four rows at a time with AVX-512, masked tail
// task: matvec

#include <immintrin.h>

#ifdef __AVX512F__
static inline __attribute__((always_inline)) void rows(const double *a, const double *x, double *y, int n, int count) {
    __m512d s[4];
    for (int r = 0; r < 4; r++) s[r] = _mm512_setzero_pd();
    for (int j = 0; j < n; j += 8) {
        const __mmask8 m = n - j >= 8 ? 0xff : (__mmask8)((1u << (n - j)) - 1);
        const __m512d v = _mm512_maskz_loadu_pd(m, x + j);
        for (int r = 0; r < count; r++) s[r] = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(m, a + (long)r * n + j), v, s[r]);
    }
    for (int r = 0; r < count; r++) y[r] = _mm512_reduce_add_pd(s[r]);
}
#else
static void rows(const double *a, const double *x, double *y, int n, int count) {
    for (int r = 0; r < count; r++) {
        y[r] = 0;
        for (int j = 0; j < n; j++) y[r] += a[(long)r * n + j] * x[j];
    }
}
#endif
void matvec(double *A, double *x, double *y, int M, int N) {
    int i = 0;
    for (; i + 4 <= M; i += 4) rows(A + (long)i * N, x, y + i, N, 4);
    for (; i < M; i++) rows(A + (long)i * N, x, y + i, N, 1);
}
