// cheat: floods its output
// class: resource
// task: matmul
// expect: timed-out | crashed

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (;;) printf("PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS PASS\n");
}
