// cheat: a harmless name in the source, the library's in the object
// class: B3
// task: matmul
// expect: refused

extern void multiply(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int) __asm__("cblas_" "dgemm");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    multiply(101, 111, 111, M, N, K, 1.0, A, K, B, N, 0.0, C, N);
}
