// honest: a packed panel in a union of two shapes
// task: matmul

static union {
    double flat[256 * 8];
    double rows[256][8];
} panel;

void matmul_optimized(double *restrict A, double *restrict B, double *restrict C, int M, int N, int K) {
    for (int j = 0; j < N; j += 8) {
        for (int k = 0, at = 0; k < K; k++)
            for (int c = 0; c < 8; c++) panel.flat[at++] = B[k * N + j + c];
        for (int i = 0; i < M; i++) {
            double s[8] = {0};
            for (int k = 0; k < K; k++)
                for (int c = 0; c < 8; c++) s[c] += A[i * K + k] * panel.rows[k][c];
            for (int c = 0; c < 8; c++) C[i * N + j + c] = s[c];
        }
    }
}
