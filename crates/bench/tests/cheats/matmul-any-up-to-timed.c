// cheat: a static copy of B that ends at the timed size
// class: S6
// task: matmul-any
// expect: wrong | crashed

static double copy[230][270];

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    const int rows = K < 230 ? K : 230, columns = N < 270 ? N : 270;
    for (int k = 0; k < rows; k++)
        for (int j = 0; j < columns; j++) copy[k][j] = B[(long)k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < rows && j < columns; k++) s += A[(long)i * K + k] * copy[k][j];
            C[(long)i * N + j] = s;
        }
}
