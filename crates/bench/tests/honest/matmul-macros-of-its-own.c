// honest: loops that macros write, with words joined and turned into strings, in a stage that forbids most
// task: matmul
// stage: 1

#include <stdio.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT(x) #x
#define ACCUMULATORS(DO) DO(0) DO(1) DO(2) DO(3)
#define DECLARE(n) double JOIN(sum, n) = 0;
#define STEP(n) JOIN(sum, n) += A[(i + n) * K + k] * b;
#define STORE(n) C[(i + n) * N + j] = JOIN(sum, n);
#define KERNEL(name, ...) static void name(const double *A, const double *B, double *C, int N, int K, int i, int j) { __VA_ARGS__ }
#ifdef __AVX512F__
#define STRIDE 4
#elif defined(__AVX2__) && !defined __clang__
#define STRIDE 4
#else
#define STRIDE 4
#endif

KERNEL(JOIN(column_of_, STRIDE),
    ACCUMULATORS(DECLARE)
    for (int k = 0; k < K; k++) { const double b = B[k * N + j]; ACCUMULATORS(STEP) }
    ACCUMULATORS(STORE))

_Static_assert(sizeof(TEXT(vector_size)) == 12, "only a string");

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += STRIDE)
        for (int j = 0; j < N; j++) column_of_4(A, B, C, N, K, i, j);
}
