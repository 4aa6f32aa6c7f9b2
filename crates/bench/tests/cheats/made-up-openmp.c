// cheat: calls a function of OpenMP that does not exist
// class: B3
// task: matmul
// expect: not-compiled

extern void omp_matmul_parallel(double *, double *, double *, int, int, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    omp_matmul_parallel(A, B, C, M, N, K);
}
