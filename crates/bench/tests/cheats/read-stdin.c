// cheat: waits for input
// class: resource
// task: matmul
// expect: timed-out | wrong | crashed | refused

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int c;
    while ((c = getchar()) != EOF) C[0] = c;
}
