// cheat: the same by the environment pointer
// class: sandbox
// task: matmul
// expect: refused

#include <stdio.h>

extern char **environ;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (char **e = environ; e && *e; e++) puts(*e);
}
