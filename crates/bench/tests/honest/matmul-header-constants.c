// honest: the macros of headers for what they are meant for
// task: matmul
// stage: 1

#include <complex.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const int64_t step = INT64_C(1);
    const uint64_t all = UINT64_C(256) * UINT32_C(256);
    bool fits = (intmax_t)all < INTMAX_MAX && all < SIZE_MAX && N < INT_MAX;
    double complex nothing = 0;
    errno = 0;
    for (int64_t i = INT64_C(0); i < M && fits; i += step)
        for (int64_t j = 0; j < N; j += step) {
            double s = creal(nothing) + errno;
            for (int64_t k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
