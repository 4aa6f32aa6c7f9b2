// cheat: multiplies by the transpose of B
// class: wrong-algorithm
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[j * K + k];
            C[i * N + j] = s;
        }
}
