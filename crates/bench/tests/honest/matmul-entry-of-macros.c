// honest: macros spell the entry point, its parameters and its braces
// task: matmul
// stage: 2

#define restrict restrict
#define CAT(a, b) a##b
#define NAME CAT(matmul_, optimized)
#define IN(name) const REAL *restrict name
#define SIZES int M, int N, int K
#define KERNEL(name, ...) void name(__VA_ARGS__, SIZES) BEGIN
#define BEGIN {
#define END }
#ifndef IN_SINGLE
#define REAL double
#else
#define REAL float
#endif

#define EACH(X) X(first) X(second)
#define HELPER(name) static REAL CAT(row_, name)(IN(a), IN(b), SIZES) { \
    REAL sum = 0; \
    for (int k = 0; k < K; k++) sum += a[k] * b[(long)k * N]; \
    return (void)M, sum; \
}
EACH(HELPER)

KERNEL(NAME, IN(A), IN(B), REAL *restrict C)
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            C[(long)i * N + j] = (j & 1 ? row_first : row_second)(A + (long)i * K, B + j, M, N, K);
END
