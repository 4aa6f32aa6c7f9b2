// honest: what headers define, used as meant, in a stage that forbids most
// task: matmul
// stage: 1

#include <assert.h>
#include <complex.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct tile {
    alignas(64) double values[4];
    int64_t count;
};

static_assert(offsetof(struct tile, count) == 32, "four doubles");

static double add(int count, ...) {
    va_list list;
    va_start(list, count);
    double sum = 0;
    for (int i = 0; i < count; i++) sum += va_arg(list, double);
    va_end(list);
    return sum;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const int64_t one = INT64_C(1), most = INT64_MAX;
    const uint64_t all = UINT64_MAX - UINTMAX_C(0);
    double complex z = CMPLX(1, 0) * (1 - 0 * I);
    atomic_int calls = 0;
    bool ready = true;
    errno = 0;
    assert(M > 0 && most > one && all > 0 && ready);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            struct tile t = {.values = {0, 0, 0, 0}, .count = one};
            for (int k = 0; k < K; k++) t.values[k % 4] += A[i * K + k] * B[k * N + j];
            C[i * N + j] = creal(z) * add(4, t.values[0], t.values[1], t.values[2], t.values[3]);
            if (isnan(C[i * N + j]) && C[i * N + j] == NAN) C[i * N + j] = INFINITY;
        }
    atomic_fetch_add(&calls, 1);
    if (errno != 0 || atomic_load(&calls) > INT_MAX - 1) abort();
}
