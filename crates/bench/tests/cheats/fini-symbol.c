// cheat: a function named _fini would run at exit without any section of its own
// class: resource
// task: matmul
// expect: refused

void _fini(void) { for (;;) {} }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    exit(0);
}
