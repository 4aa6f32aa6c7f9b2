// cheat: forks without end
// class: resource
// task: matmul
// expect: refused

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (;;) fork();
}
