// honest: names in Greek and with umlauts, and one with a dollar sign
// task: matmul
// stage: 1

#define für for
#define $row(i) ((i) * N)

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    für (int ι = 0; ι < M; ι++)
        für (int j = 0; j < N; j++) {
            double σ = 0;
            für (int κ = 0; κ < K; κ++) σ += A[ι * K + κ] * B[κ * N + j];
            C[$row(ι) + j] = σ;
        }
}
