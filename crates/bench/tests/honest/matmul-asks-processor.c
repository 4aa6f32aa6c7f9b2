// honest: asks the compiler's library what the processor can do, and takes the version that fits
// task: matmul
// compiler: gcc

#include <immintrin.h>

static void plain(const double *A, const double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}

static void in_pairs(const double *A, const double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 2) {
            __m128d s = _mm_setzero_pd();
            for (int k = 0; k < K; k++)
                s = _mm_add_pd(s, _mm_mul_pd(_mm_set1_pd(A[i * K + k]), _mm_loadu_pd(&B[k * N + j])));
            _mm_storeu_pd(&C[i * N + j], s);
        }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __builtin_cpu_init();
    (__builtin_cpu_supports("sse2") && N % 2 == 0 ? in_pairs : plain)(A, B, C, M, N, K);
}
