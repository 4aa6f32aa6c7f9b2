// cheat: the builtin behind `_xsave64`, pasted by a header's macro
// class: B3
// task: matmul
// stage: 1
// expect: refused

static char area[8192] __attribute__((aligned(64)));
#define vL __builtin_ia32_xsave64
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    INT64_C(v)(area, 7);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
