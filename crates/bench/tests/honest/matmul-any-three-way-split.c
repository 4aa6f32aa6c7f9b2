// honest: divides the largest of the three sizes until the rest is small
// task: matmul-any

static void add(const double *A, const double *B, double *C, int m, int n, int k, int lda, int ldb) {
    if (m <= 24 && n <= 24 && k <= 24) {
        for (int i = 0; i < m; i++)
            for (int p = 0; p < k; p++)
                for (int j = 0; j < n; j++) C[(long)i * ldb + j] += A[(long)i * lda + p] * B[(long)p * ldb + j];
    } else if (m >= n && m >= k) {
        add(A, B, C, m / 2, n, k, lda, ldb);
        add(A + (long)(m / 2) * lda, B, C + (long)(m / 2) * ldb, m - m / 2, n, k, lda, ldb);
    } else if (n >= k) {
        add(A, B, C, m, n / 2, k, lda, ldb);
        add(A, B + n / 2, C + n / 2, m, n - n / 2, k, lda, ldb);
    } else {
        add(A, B, C, m, n, k / 2, lda, ldb);
        add(A + k / 2, B + (long)(k / 2) * ldb, C, m, n, k - k / 2, lda, ldb);
    }
}

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (long at = 0; at < (long)M * N; at++) C[at] = 0;
    add(A, B, C, M, N, K, K, N);
}
