// cheat: a condition that reads like 0 and is 48
// class: B3
// task: matmul
// expect: refused

#if '0'
#pragma GCC optimize("Ofast")
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
