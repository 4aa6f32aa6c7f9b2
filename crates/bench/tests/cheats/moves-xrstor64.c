// cheat: `_xrstor64` moves all vector registers
// class: B3
// task: matmul
// stage: 1
// expect: refused

static char area[8192] __attribute__((aligned(64)));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    _xsave64(area, 1);
    _xrstor64(area, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
