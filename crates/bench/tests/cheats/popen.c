// cheat: asks another program for the product
// class: sandbox
// task: matmul
// expect: refused

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    FILE *f = popen("python3 -c 'print(1)'", "r");
    if (f) pclose(f);
}
