// honest: a parallel region inside another
// task: matmul
// threads: 2

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for num_threads(2)
    for (int h = 0; h < 2; h++) {
        const int from = h * (M / 2), to = h ? M : M / 2;
#pragma omp parallel for num_threads(2)
        for (int i = from; i < to; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
                C[i * N + j] = sum;
            }
    }
}
