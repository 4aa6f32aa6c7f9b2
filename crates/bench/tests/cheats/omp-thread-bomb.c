// cheat: asks OpenMP for ten thousand threads
// class: resource
// task: matmul
// expect: crashed | wrong | timed-out

#include <omp.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    omp_set_dynamic(0);
#pragma omp parallel num_threads(10000)
    C[omp_get_thread_num()] = 0;
}
