// cheat: a handler that returns into the fault for ever
// class: resource
// task: matmul
// expect: refused

#include <signal.h>

static void again(int s) {
    (void)s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    signal(SIGSEGV, again);
    *(volatile int *)16 = 1;
}
