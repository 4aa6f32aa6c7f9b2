// honest: headers of intrinsics that it does not use, behind macros of its own, in a stage that forbids most
// task: matmul
// stage: 1

#define RESTRICT restrict
#define INLINE static inline
#define likely(x) __builtin_expect(!!(x), 1)
#include <immintrin.h>
#include <omp.h>
#include <pthread.h>
#include <x86intrin.h>

INLINE double dot(const double *RESTRICT a, const double *RESTRICT b, int n, int stride) {
    double s = 0;
    for (int k = 0; likely(k < n); k++) s += a[k] * b[k * stride];
    return s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) C[i * N + j] = dot(A + i * K, B + j, K, N);
}
