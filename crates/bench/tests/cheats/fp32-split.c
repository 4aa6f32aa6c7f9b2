// cheat: inputs as two floats, without the product of the low parts
// class: S7
// task: matmul
// expect: wrong

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float high = 0, low = 0;
            for (int k = 0; k < K; k++) {
                const float a = A[i * K + k], b = B[k * N + j];
                const float al = A[i * K + k] - a, bl = B[k * N + j] - b;
                high += a * b;
                low += a * bl + al * b;
            }
            C[i * N + j] = (double)high + low;
        }
}
