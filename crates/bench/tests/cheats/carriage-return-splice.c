// cheat: a carriage return undoes a splice for the compiler and not for a reader
// class: B3
// task: matmul
// expect: malformed

// a comment \
#pragma GCC optimize("Ofast")
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
