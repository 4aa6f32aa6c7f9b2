// cheat: becomes another program
// class: sandbox
// task: matmul
// expect: refused

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    execl("/bin/true", "true", (char *)NULL);
}
