// cheat: copies an input to the output
// class: S1
// task: matmul
// expect: wrong

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memcpy(C, A, sizeof(double) * M * N);
}
