// honest: a function and a variable called optimize
// task: matmul

static double optimize(const double *a, const double *b, int n, int stride) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k * stride];
    return sum;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const int optimized = K;
    struct { int optimize; } how = { .optimize = optimized };
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) C[i * N + j] = optimize(A + i * K, B + j, how.optimize, N);
}
