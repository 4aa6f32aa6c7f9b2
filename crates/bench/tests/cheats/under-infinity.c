// cheat: a header's `INFINITY` is a builtin, and has `omp simd` in it now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __builtin_inff() ({ double t = 0; _Pragma("omp simd reduction(+ : t)") for (int k = 0; k < K; k++) t += A[i * K + k] * B[k * N + j]; t; })
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            C[i * N + j] = INFINITY; continue;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
