// cheat: catches the sandbox's own signal
// class: T5
// task: matmul
// expect: refused

#include <signal.h>

static void caught(int s) {
    (void)s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct sigaction a = {.sa_handler = caught};
    sigaction(SIGSYS, &a, NULL);
}
