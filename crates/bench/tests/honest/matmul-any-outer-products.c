// honest: the sum of outer products, by a team that shares columns, with names of OpenMP's kind
// task: matmul-any
// threads: 2

static void omp_outer_product(const double *a, const double *b, double *c, int M, int N, int lda, int from, int to) {
    for (int i = 0; i < M; i++)
        for (int j = from; j < to; j++) c[(long)i * N + j] += a[(long)i * lda] * b[j];
}

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    enum { WIDTH = 32 };
#pragma omp parallel for default(none) shared(A, B, C) firstprivate(M, N, K)
    for (int from = 0; from < N; from += WIDTH) {
        const int to = from + WIDTH < N ? from + WIDTH : N;
        for (int i = 0; i < M; i++)
            for (int j = from; j < to; j++) C[(long)i * N + j] = 0;
        for (int k = 0; k < K; k++) omp_outer_product(A + k, B + (long)k * N, C, M, N, K, from, to);
    }
}
