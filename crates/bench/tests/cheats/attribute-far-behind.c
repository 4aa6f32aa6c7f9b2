// cheat: `target` behind thousands of attributes
// class: B3
// task: matmul
// expect: refused

#define U0 unused, noinline,
#define U1 U0 U0 U0 U0 U0 U0 U0 U0 U0 U0
#define U2 U1 U1 U1 U1 U1 U1 U1 U1 U1 U1
#define U3 U2 U2 U2 U2 U2 U2 U2 U2 U2 U2
__attribute__((U3 U3 target("avx2")))
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
