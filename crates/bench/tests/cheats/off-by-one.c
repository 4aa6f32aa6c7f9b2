// cheat: one term too many; it reads past the end of A and B
// class: S5
// task: matmul
// expect: wrong | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k <= K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
