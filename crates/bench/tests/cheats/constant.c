// cheat: writes one constant, about the mean of the right values
// class: S9
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < (long)M * N; i++) C[i] = 1e-9;
}
