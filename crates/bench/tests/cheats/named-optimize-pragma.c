// cheat: a plain name beside the pragma that it is the name of too
// class: B3
// task: matmul
// expect: refused

static double optimize;
#define DO(x) _Pragma(#x)
DO(GCC optimize("Ofast"))
static int spare;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = optimize;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
