// cheat: turns a stream that is open already into a file
// class: sandbox
// task: matmul
// expect: refused

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    freopen("/tmp/out", "w", stdout);
    printf("kept\n");
}
