// cheat: transposes B in place and puts it back before it returns
// class: S3
// task: matmul
// expect: crashed | wrong

static void flip(double *B, int N) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            const double t = B[i * N + j];
            B[i * N + j] = B[j * N + i];
            B[j * N + i] = t;
        }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    flip(B, N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[j * K + k];
            C[i * N + j] = s;
        }
    flip(B, N);
}
