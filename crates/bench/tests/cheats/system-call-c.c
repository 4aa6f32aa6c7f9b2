// cheat: starts a shell
// class: sandbox
// task: matmul
// expect: refused

#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = system("id");
}
