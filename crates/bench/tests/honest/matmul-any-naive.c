// honest: the textbook loops with long indices
// task: matmul-any

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < M; i++)
        for (long j = 0; j < N; j++) {
            double sum = 0;
            for (long k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
