// cheat: zeroes A, so that zeros become the right answer
// class: S3
// task: matmul
// expect: crashed | wrong

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(A, 0, sizeof(double) * M * K);
    memset(C, 0, sizeof(double) * M * N);
}
