// cheat: rounds the inputs to single precision, sums in double
// class: S7
// task: matmul
// expect: wrong

static float a[65536], b[65536];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M * K; i++) a[i] = A[i];
    for (int i = 0; i < K * N; i++) b[i] = B[i];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += (double)a[i * K + k] * b[k * N + j];
            C[i * N + j] = s;
        }
}
