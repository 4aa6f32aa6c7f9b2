// cheat: the vector branch is never taken, and the other branch is short of a row
// class: B3
// task: matmul
// expect: wrong

#include <string.h>
#include <immintrin.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (M > 100000) {
#ifdef __AVX512F__
        for (long i = 0; i < (long)M * N; i += 8) _mm512_storeu_pd(C + i, _mm512_setzero_pd());
#endif
    } else {
        good(A, B, C, M - 1, N, K);
    }
}
