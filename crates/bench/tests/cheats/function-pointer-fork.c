// cheat: takes the address of fork only, in a table
// class: sandbox
// task: matmul
// expect: refused

#include <unistd.h>

static pid_t (*const table[])(void) = {getpid, fork};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = table[M > 0]();
}
