// cheat: recursion without end
// class: resource
// task: matmul
// expect: crashed

static int deep(volatile int *p) {
    volatile int here[64];
    here[0] = p[0] + 1;
    return deep(here) + here[1];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    volatile int start = 0;
    C[0] = deep(&start);
}
