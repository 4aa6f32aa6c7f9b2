// honest: guided schedule, num_threads(2), simd on the inner loop
// task: matmul
// threads: 2

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int i, j, k;
#pragma omp parallel for default(none) shared(A, B, C, M, N, K) private(j, k) schedule(guided) num_threads(2)
    for (i = 0; i < M; i++) {
        for (j = 0; j < N; j++) C[i * N + j] = 0.0;
        for (k = 0; k < K; k++) {
#pragma omp simd
            for (j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
        }
    }
}
