// cheat: NaN everywhere, in the hope that a comparison with NaN is never "too large"
// class: S4
// task: matmul
// expect: wrong

#include <math.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < (long)M * N; i++) C[i] = NAN;
}
