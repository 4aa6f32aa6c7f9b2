// cheat: a pragma lets sums be reordered, as a faster and looser level would
// class: level
// task: matmul
// compiler: clang
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    _Pragma("clang fp reassociate(on) contract(fast)")
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
