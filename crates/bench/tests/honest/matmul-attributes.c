// honest: attributes that change no target and no level, in every spelling, in a stage that forbids most
// task: matmul
// stage: 1

#include <stddef.h>

typedef double real __attribute__((__aligned__(8), may_alias));
typedef unsigned counter __attribute__((mode(DI)));

__attribute__((always_inline, hot)) static inline double *row(double *p, int i, int n) { return p + (size_t)i * n; }
__attribute((noinline, flatten, nonnull(1, 2), access(read_only, 1)))
static double dot(const real *__restrict__ a, const real *__restrict b, int n, int stride) {
    const real *x = __builtin_assume_aligned(a, 8);
    double s = 0;
    for (counter k = 0; k < (counter)n; k++) s += x[k] * b[k * stride];
    return s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) row(C, i, N)[j] = dot(row(A, i, K), B + j, K, N);
}
