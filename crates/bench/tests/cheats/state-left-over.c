// cheat: a running sum that survives from call to call
// class: S8
// task: matmul
// expect: wrong

static double s;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
            s *= 1e-6;
        }
}
