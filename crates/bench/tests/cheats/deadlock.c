// cheat: locks a mutex twice
// class: resource
// task: matmul
// expect: timed-out

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}
