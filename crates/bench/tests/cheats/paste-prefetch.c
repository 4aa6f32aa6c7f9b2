// cheat: a prefetch in a macro that only a header's macro pastes together
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define vL __builtin_prefetch
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            INT64_C(v)(B + j);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
