// cheat: leaves its session, so that a group kill misses it
// class: sandbox
// task: matmul
// expect: refused | crashed | wrong | timed-out

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    setsid();
    for (volatile int i = 0;; i++) {}
}
