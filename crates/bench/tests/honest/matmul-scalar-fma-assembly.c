// honest: one fused product at a time, in assembly
// task: matmul
// stage: 2

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++)
                __asm__("vfmadd231sd %2, %1, %0" : "+x"(s) : "x"(A[i * K + k]), "xm"(B[k * N + j]));
            C[i * N + j] = s;
        }
}
