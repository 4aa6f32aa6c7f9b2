// cheat: the output first
// class: malformed
// task: matmul
// expect: malformed | not-compiled | wrong | crashed

void matmul_optimized(double *C, double *A, double *B, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
