// cheat: a weak alias gives a local function a libc name
// class: T5
// task: matmul
// expect: refused | not-compiled

#include <string.h>

static int nothing(int pid, int sig) {
    (void)pid, (void)sig;
    return 0;
}

extern int kill(int pid, int sig) __attribute__((weak, alias("nothing")));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
}
