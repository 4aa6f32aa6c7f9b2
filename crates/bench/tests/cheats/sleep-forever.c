// cheat: sleeps for ever
// class: resource
// task: matmul
// expect: timed-out | crashed

#include <time.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (;;) nanosleep(&(struct timespec){1000, 0}, NULL);
}
