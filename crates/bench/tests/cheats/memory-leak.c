// cheat: a leak of 64 MB a call
// class: resource
// task: matmul
// expect: crashed | wrong | timed-out

#include <stdlib.h>
#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char *p = malloc((size_t)64 << 20);
    memset(p, 1, (size_t)64 << 20);
    C[0] = p[M];
}
