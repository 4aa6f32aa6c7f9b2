// honest: a nested function whose address is taken, for which gcc needs an executable stack
// task: matmul

static void each(int n, void (*body)(int)) {
    for (int i = 0; i < n; i++) body(i);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void row(int i) {
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
    each(M, row);
}
