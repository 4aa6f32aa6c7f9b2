// cheat: looks for secrets in the environment
// class: sandbox
// task: matmul
// expect: refused

#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const char *seed = getenv("SEED");
    srand(seed ? atoi(seed) : 0);
    for (long i = 0; i < (long)M * N; i++) C[i] = rand();
}
