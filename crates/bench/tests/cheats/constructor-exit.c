// cheat: a constructor prints PASS and exits before anything is measured
// class: B3
// task: matmul
// expect: refused

#include <stdlib.h>
#include <stdio.h>

__attribute__((constructor)) static void early(void) {
    printf("PASS\n");
    exit(0);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
