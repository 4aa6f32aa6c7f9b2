// honest: a macro with an underscore as its parameter
// task: matmul

#define FOUR(_) _(0) _(1) _(2) _(3)
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            int k = 0;
#define ADD(at) s += A[i * K + k + at] * B[(k + at) * N + j];
            for (; k + 4 <= K; k += 4) { FOUR(ADD) }
            for (; k < K; k++) { ADD(0) }
            C[i * N + j] = s;
        }
}
