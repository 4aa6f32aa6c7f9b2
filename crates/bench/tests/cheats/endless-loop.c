// cheat: never returns
// class: resource
// task: matmul
// expect: timed-out

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (volatile int i = 0;; i++) {}
}
