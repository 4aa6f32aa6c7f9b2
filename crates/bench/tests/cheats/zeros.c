// cheat: writes zeros, which pass an absolute tolerance
// class: S1
// task: matmul
// expect: wrong

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
}
