// honest: plain arithmetic in assembly, with numbers in registers that vectors could be in, too
// task: matmul
// stage: 1

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) {
                double a = A[i * K + k];
                __asm__("mulsd %1, %0" : "+x"(a) : "xm"(B[k * N + j]));
                __asm__("addsd %1, %0" : "+x"(s) : "x"(a));
            }
            C[i * N + j] = s;
        }
}
