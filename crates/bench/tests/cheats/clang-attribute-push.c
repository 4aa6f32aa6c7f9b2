// cheat: a pragma puts an attribute on every function that follows
// class: level
// task: matmul
// compiler: clang
// expect: refused

#pragma clang attribute push(__attribute__((target("no-avx"))), apply_to = function)
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
#pragma clang attribute pop
