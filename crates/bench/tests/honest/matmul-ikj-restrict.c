// honest: loops in the order i, k, j; restrict in the signature
// task: matmul

void matmul_optimized(double *restrict A, double *restrict B, double *restrict C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
        for (int k = 0; k < K; k++) {
            const double a = A[i * K + k];
            for (int j = 0; j < N; j++) C[i * N + j] += a * B[k * N + j];
        }
    }
}
