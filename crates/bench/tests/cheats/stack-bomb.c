// cheat: alloca without end
// class: resource
// task: matmul
// expect: crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (;;) {
        volatile char *p = __builtin_alloca(65536);
        p[0] = 1;
    }
}
