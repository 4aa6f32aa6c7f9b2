// cheat: ends the calling thread, leaves the process
// class: T5
// task: matmul
// expect: crashed | timed-out | wrong | refused

#include <pthread.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    pthread_exit(NULL);
}
