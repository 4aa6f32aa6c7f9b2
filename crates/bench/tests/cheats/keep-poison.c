// cheat: reads the output and writes it back unchanged, hoping that it holds an old right answer
// class: S2
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    volatile double *c = C;
    for (long i = 0; i < (long)M * N; i++) c[i] = c[i];
}
