// honest: pointers to arrays of variable length, and array parameters with their sizes
// task: matmul-any
// stage: 2

static void multiply(int M, int N, int K, double (*restrict c)[N], double a[M][K], double b[restrict K][N]) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) c[i][j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
    }
}

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    multiply(M, N, K, (double (*)[N])C, (double (*)[K])A, (double (*)[N])B);
}
