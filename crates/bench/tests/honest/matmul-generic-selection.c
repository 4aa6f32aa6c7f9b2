// honest: `_Generic` picks the product by the operands' types; `_Static_assert` says what it relies on
// task: matmul
// stage: 2

#include <stddef.h>

_Static_assert(sizeof(double) == 8 && sizeof(int) == 4, "as on this machine");

static inline double times_d(double a, double b) { return a * b; }
static inline double times_i(int a, double b) { return a * b; }
#define TIMES(a, b) _Generic((a), int: times_i, double: times_d, default: times_d)(a, b)

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        double *const row = C + (size_t)i * N;
        for (int j = 0; j < N; j++) row[j] = TIMES(0, 1.0);
        for (int k = 0; k < K; k++) {
            const double a = A[(size_t)i * K + k];
            for (int j = 0; j < N; j++) row[j] += TIMES(a, B[(size_t)k * N + j]);
        }
    }
}
