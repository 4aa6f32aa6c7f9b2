// cheat: binds a name to a library's symbol by .symver
// class: B3
// task: matmul
// expect: refused

__asm__(".symver multiply,cblas_dgemm@");
extern void multiply(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    multiply(101, 111, 111, M, N, K, 1.0, A, K, B, N, 0.0, C, N);
}
