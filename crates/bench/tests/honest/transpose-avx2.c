// honest: four by four blocks by AVX2 shuffles, scalar edges
// task: transpose

#include <immintrin.h>

void transpose(double *in, double *out, int M, int N) {
    int m = 0, n = 0;
#ifdef __AVX2__
    m = M / 4 * 4, n = N / 4 * 4;
    for (int i = 0; i < m; i += 4)
        for (int j = 0; j < n; j += 4) {
            const double *s = in + (long)i * N + j;
            double *d = out + (long)j * M + i;
            const __m256d r0 = _mm256_loadu_pd(s), r1 = _mm256_loadu_pd(s + N), r2 = _mm256_loadu_pd(s + 2L * N), r3 = _mm256_loadu_pd(s + 3L * N);
            const __m256d a = _mm256_unpacklo_pd(r0, r1), b = _mm256_unpackhi_pd(r0, r1);
            const __m256d c = _mm256_unpacklo_pd(r2, r3), e = _mm256_unpackhi_pd(r2, r3);
            _mm256_storeu_pd(d, _mm256_permute2f128_pd(a, c, 0x20));
            _mm256_storeu_pd(d + M, _mm256_permute2f128_pd(b, e, 0x20));
            _mm256_storeu_pd(d + 2L * M, _mm256_permute2f128_pd(a, c, 0x31));
            _mm256_storeu_pd(d + 3L * M, _mm256_permute2f128_pd(b, e, 0x31));
        }
#endif
    for (int i = 0; i < M; i++)
        for (int j = i < m ? n : 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
