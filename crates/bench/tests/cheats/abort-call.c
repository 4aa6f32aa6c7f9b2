// cheat: abort, in the hope that a crash counts as skipped
// class: resource
// task: matmul
// expect: crashed

#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    abort();
}
