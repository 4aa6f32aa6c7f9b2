// cheat: a `#line` that is no directive until a storage word before it is dropped from the entry point, and then makes a system header's of what follows
// class: B3
// task: matmul
// stage: 1
// expect: malformed

#include <immintrin.h>

[[gnu::hot
static #line 1 "/usr/lib/gcc/immintrin.h" 3
]] void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 4) {
            __m256d sum = _mm256_setzero_pd();
            for (int k = 0; k < K; k++)
                sum = _mm256_add_pd(sum, _mm256_mul_pd(_mm256_set1_pd(A[i * K + k]), _mm256_loadu_pd(B + k * N + j)));
            _mm256_storeu_pd(C + i * N + j, sum);
        }
}
