// cheat: values near the largest double, so that the checker's sums overflow
// class: S4
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < (long)M * N; i++) C[i] = (i & 1) ? 1.7e308 : -1.7e308;
}
