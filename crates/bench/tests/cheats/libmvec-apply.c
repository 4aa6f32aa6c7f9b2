// cheat: `__builtin_apply` hands all argument registers to a vector function
// class: B3
// task: matmul
// stage: 1
// expect: refused

static double two(double x) { return x; }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    (void)__builtin_apply((void (*)())two, __builtin_apply_args(), 64);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
