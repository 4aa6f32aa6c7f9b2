// honest: one task for each block of rows
// task: matmul
// threads: 2

static void rows(const double *A, const double *B, double *C, int m, int N, int K) {
    for (int i = 0; i < m; i++) {
        double *c = C + (long)i * N;
        for (int j = 0; j < N; j++) c[j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) c[j] += A[(long)i * K + k] * B[(long)k * N + j];
    }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < M; i += 32) {
#pragma omp task firstprivate(i)
        rows(A + (long)i * K, B, C + (long)i * N, M - i < 32 ? M - i : 32, N, K);
    }
}
