// cheat: the attribute's name pasted together by the preprocessor
// class: B3
// task: matmul
// expect: refused

#include <stdlib.h>

#define GLUE(a, b) a##b
#define EARLY __attribute__((GLUE(constr, uctor)))
EARLY static void early(void) {
    exit(0);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
