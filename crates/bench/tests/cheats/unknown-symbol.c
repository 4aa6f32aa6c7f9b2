// cheat: calls a function that does not exist
// class: B3
// task: matmul
// expect: refused | not-compiled

extern void fast_matmul(double *, double *, double *, int, int, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    fast_matmul(A, B, C, M, N, K);
}
