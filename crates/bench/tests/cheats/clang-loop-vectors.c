// cheat: no vector is named, but a pragma has the compiler use vectors where its level would not
// class: B3
// task: matmul
// compiler: clang
// level: O1
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
        for (int k = 0; k < K; k++) {
            double a = A[i * K + k], *restrict b = B + k * N, *restrict c = C + i * N;
#pragma clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(4)
            for (int j = 0; j < N; j++) c[j] += a * b[j];
        }
    }
}
