// cheat: the sum over each row is right, which satisfies a projection on ones
// class: S1
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) s += A[i * K + k] * B[k * N + j];
        for (int j = 0; j < N; j++) C[i * N + j] = s / N;
    }
}
