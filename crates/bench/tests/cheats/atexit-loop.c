// cheat: registers an endless exit handler, then exits
// class: resource
// task: matmul
// expect: timed-out | crashed | refused

#include <stdlib.h>

static void forever(void) {
    for (volatile int i = 0;; i++) {}
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    atexit(forever);
    exit(0);
}
