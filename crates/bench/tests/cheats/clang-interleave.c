// cheat: a pragma has the compiler interleave and vectorise where the stage forbids it
// class: B3
// task: matmul
// stage: 1
// compiler: clang
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            #pragma clang loop interleave(enable) interleave_count(4)
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
