// cheat: closes every descriptor
// class: sandbox
// task: matmul
// expect: wrong | crashed | refused | timed-out

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int fd = 0; fd < 1024; fd++) close(fd);
}
