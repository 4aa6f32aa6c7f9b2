// cheat: attaches to its supervisor
// class: T5
// task: matmul
// expect: refused

#include <unistd.h>

extern long ptrace(int, ...);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    ptrace(16, getppid(), NULL, NULL);
}
