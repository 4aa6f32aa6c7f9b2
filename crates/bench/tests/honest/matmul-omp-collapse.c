// honest: OpenMP with collapse and a dynamic schedule
// task: matmul
// threads: 2

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
    for (int i = 0; i < M; i += 16)
        for (int j = 0; j < N; j += 64)
            for (int r = i; r < i + 16 && r < M; r++) {
                double c[64] = {0};
                for (int k = 0; k < K; k++)
                    for (int s = 0; s < 64; s++) c[s] += A[r * K + k] * B[k * N + j + s];
                for (int s = 0; s < 64; s++) C[r * N + j + s] = c[s];
            }
}
