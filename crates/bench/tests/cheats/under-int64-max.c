// cheat: a header's `INT64_MAX` uses `__INT64_C`, and that has a vector in it now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __INT64_C(x) ({ typedef double V __attribute__((vector_size(64))); V v = {s}; v += v; v[0]; })
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            s = INT64_MAX;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
