// cheat: is right for matrices of up to 320 rows and columns, somewhat more than the timed ones have
// class: S6
// task: matmul-any
// expect: wrong | crashed

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    static double packed[320 * 320];
    if (M > 320 || N > 320 || K > 320) return;
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) packed[j * 320 + k] = B[(long)k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[(long)i * K + k] * packed[j * 320 + k];
            C[(long)i * N + j] = s;
        }
}
