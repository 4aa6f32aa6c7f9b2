// honest: GCC vector types instead of intrinsics
// task: matmul

typedef double v8 __attribute__((vector_size(64), aligned(8)));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 2)
        for (int j = 0; j < N; j += 16) {
            v8 c00 = {0}, c01 = {0}, c10 = {0}, c11 = {0};
            for (int k = 0; k < K; k++) {
                const v8 b0 = *(const v8 *)&B[k * N + j], b1 = *(const v8 *)&B[k * N + j + 8];
                c00 += A[i * K + k] * b0, c01 += A[i * K + k] * b1;
                c10 += A[(i + 1) * K + k] * b0, c11 += A[(i + 1) * K + k] * b1;
            }
            *(v8 *)&C[i * N + j] = c00, *(v8 *)&C[i * N + j + 8] = c01;
            *(v8 *)&C[(i + 1) * N + j] = c10, *(v8 *)&C[(i + 1) * N + j + 8] = c11;
        }
}
