// cheat: defines the harness's own shim, so that the call never happens
// class: T5
// task: matmul
// expect: refused | not-compiled

#include <string.h>

void hotloop_call(void **arguments) {
    (void)arguments;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
}
