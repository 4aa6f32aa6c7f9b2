// cheat: _exit(0) at once
// class: T5
// task: matmul
// expect: crashed | refused | wrong

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    _exit(0);
}
