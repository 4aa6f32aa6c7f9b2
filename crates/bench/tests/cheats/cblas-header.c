// cheat: the library call with its header
// class: B3
// task: matmul
// expect: refused

#include <cblas.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0, A, K, B, N, 0.0, C, N);
}
