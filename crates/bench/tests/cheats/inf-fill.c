// cheat: infinities, so that relative errors become NaN
// class: S4
// task: matmul
// expect: wrong

#include <math.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < (long)M * N; i++) C[i] = (i & 1) ? INFINITY : -INFINITY;
}
