// cheat: does nothing at all
// class: S2
// task: matmul
// expect: wrong | suspect

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    (void)A, (void)B, (void)C, (void)M, (void)N, (void)K;
}
