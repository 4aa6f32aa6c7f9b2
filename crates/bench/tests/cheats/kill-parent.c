// cheat: kills its supervisor
// class: sandbox
// task: matmul
// expect: refused | crashed | wrong

#include <unistd.h>

extern int kill(int, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    kill(getppid(), 9);
}
