// honest: accumulators in a structure, returned by value, with designated initialisers
// task: matmul
// stage: 1

struct sums { double of[2][4]; int row, column; };

static inline struct sums tile(const double *A, const double *B, int i, int j, int N, int K) {
    struct sums s = {.row = i, .column = j, .of = {[0] = {0}, [1] = {[3] = 0}}};
    for (int k = 0; k < K; k++)
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 4; c++) s.of[r][c] += A[(i + r) * K + k] * B[k * N + j + c];
    return s;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 2)
        for (int j = 0; j < N; j += 4) {
            const struct sums s = tile(A, B, i, j, N, K);
            for (int r = 0; r < 2; r++)
                for (int c = 0; c < 4; c++) C[(s.row + r) * N + s.column + c] = s.of[r][c];
        }
}
