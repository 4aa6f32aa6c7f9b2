// cheat: looks for an answer far behind the inputs
// class: S5
// task: matmul
// expect: crashed | wrong

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memcpy(C, A + 4 * (long)M * K, sizeof(double) * M * N);
}
