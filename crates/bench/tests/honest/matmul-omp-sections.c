// honest: two sections, upper and lower half
// task: matmul
// threads: 2

static void part(double *A, double *B, double *C, int from, int to, int N, int K) {
    for (int i = from; i < to; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel sections
    {
#pragma omp section
        part(A, B, C, 0, M / 2, N, K);
#pragma omp section
        part(A, B, C, M / 2, M, N, K);
    }
}
