// honest: names that sound like vectors and are none
// task: matmul
// stage: 1

static double vfma(double a, double b, double c) { return a * b + c; }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int vector_size = K;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < vector_size; k++) s = vfma(A[i * K + k], B[k * N + j], s);
            C[i * N + j] = s;
        }
}
