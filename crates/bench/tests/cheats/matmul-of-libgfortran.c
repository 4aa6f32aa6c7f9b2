// cheat: the matrix product of another language's runtime
// class: B3
// task: matmul
// expect: refused | not-compiled

extern void _gfortran_matmul_r8(void *, void *, void *, int, int, void *);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    _gfortran_matmul_r8(C, A, B, 0, 0, NULL);
}
