// cheat: a plain name beside the attribute that it is the name of too
// class: B3
// task: matmul
// expect: refused

static double optimize;
#define WITH(x) __attribute__((x))
void matmul_optimized(double *, double *, double *, int, int, int) WITH(optimize("Ofast"));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = optimize;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
