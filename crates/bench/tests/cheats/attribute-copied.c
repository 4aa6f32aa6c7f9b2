// cheat: takes another function's level of optimisation by copying its attributes
// class: level
// task: matmul
// expect: refused

#pragma GCC push_options
__attribute__((__copy__(__builtin_ia32_pause), __optimize__("Ofast"))) void matmul_optimized(double *A, double *B, double *C, int M, int N, int K);
#pragma GCC pop_options
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
