// honest: Kahan's sums, four columns at a time
// task: matmul
// stage: 1

struct kahan { double sum, lost; };

static inline void add(struct kahan *k, double x) {
    const double y = x - k->lost, t = k->sum + y;
    k->lost = (t - k->sum) - y, k->sum = t;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 4) {
            struct kahan s[4] = {{0, 0}};
            for (int k = 0; k < K; k++)
                for (int c = 0; c < 4; c++) add(&s[c], A[i * K + k] * B[k * N + j + c]);
            for (int c = 0; c < 4; c++) C[i * N + j + c] = s[c].sum;
        }
}
