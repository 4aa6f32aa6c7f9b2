// cheat: asks for 100 GB and touches it
// class: resource
// task: matmul
// expect: crashed | wrong | timed-out

#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int g = 0; g < 100; g++) {
        volatile char *p = malloc((size_t)1 << 30);
        for (size_t i = 0; i < (size_t)1 << 30; i += 4096) p[i] = 1;
    }
}
