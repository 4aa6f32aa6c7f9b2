// cheat: `target` in a macro that only a header's macro pastes together
// class: B3
// task: matmul
// expect: refused

#define vL __attribute__((target("avx2,fma")))
INT64_C(v) static double dot(const double *a, const double *b, int n, int stride) {
    double s = 0;
    for (int k = 0; k < n; k++) s += a[k] * b[k * stride];
    return s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) C[i * N + j] = dot(A + i * K, B + j, K, N);
}
