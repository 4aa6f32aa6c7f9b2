// cheat: output with the right mean and spread, and nothing else right
// class: S9
// task: matmul
// expect: wrong

#include <math.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const double spread = sqrt(K / 3.0);
    for (long i = 0; i < (long)M * N; i++) C[i] = B[i] * spread;
}
