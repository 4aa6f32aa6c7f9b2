// honest: the next values are loaded before the last ones are used
// task: matmul
// stage: 1

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 2)
        for (int j = 0; j < N; j += 2) {
            const double *a0 = A + i * K, *a1 = a0 + K, *b = B + j;
            double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
            double x0 = a0[0], x1 = a1[0], y0 = b[0], y1 = b[1];
            for (int k = 1; k < K; k++) {
                b += N;
                const double nx0 = a0[k], nx1 = a1[k], ny0 = b[0], ny1 = b[1];
                s00 += x0 * y0, s01 += x0 * y1, s10 += x1 * y0, s11 += x1 * y1;
                x0 = nx0, x1 = nx1, y0 = ny0, y1 = ny1;
            }
            C[i * N + j] = s00 + x0 * y0, C[i * N + j + 1] = s01 + x0 * y1;
            C[(i + 1) * N + j] = s10 + x1 * y0, C[(i + 1) * N + j + 1] = s11 + x1 * y1;
        }
}
