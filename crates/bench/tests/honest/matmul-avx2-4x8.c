// honest: AVX2 and FMA, four rows by eight columns
// task: matmul

#include <immintrin.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 4)
        for (int j = 0; j < N; j += 8) {
#if defined(__AVX2__) && defined(__FMA__)
            __m256d c[4][2];
            for (int r = 0; r < 4; r++) c[r][0] = c[r][1] = _mm256_setzero_pd();
            for (int k = 0; k < K; k++) {
                const __m256d b0 = _mm256_loadu_pd(&B[k * N + j]), b1 = _mm256_loadu_pd(&B[k * N + j + 4]);
                for (int r = 0; r < 4; r++) {
                    const __m256d a = _mm256_broadcast_sd(&A[(i + r) * K + k]);
                    c[r][0] = _mm256_fmadd_pd(a, b0, c[r][0]);
                    c[r][1] = _mm256_fmadd_pd(a, b1, c[r][1]);
                }
            }
            for (int r = 0; r < 4; r++) {
                _mm256_storeu_pd(&C[(i + r) * N + j], c[r][0]);
                _mm256_storeu_pd(&C[(i + r) * N + j + 4], c[r][1]);
            }
#else
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 8; s++) {
                    double sum = 0;
                    for (int k = 0; k < K; k++) sum += A[(i + r) * K + k] * B[k * N + j + s];
                    C[(i + r) * N + j + s] = sum;
                }
#endif
        }
}
