// honest: one multiply-add instruction by inline assembler
// task: matmul

static inline double multiply_add(double a, double b, double c) {
#if defined(__FMA__)
    __asm__("vfmadd231sd %2, %1, %0" : "+x"(c) : "x"(a), "xm"(b));
    return c;
#else
    return a * b + c;
#endif
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 2) {
            double s0 = 0, s1 = 0;
            for (int k = 0; k < K; k++) {
                s0 = multiply_add(A[i * K + k], B[k * N + j], s0);
                s1 = multiply_add(A[i * K + k], B[k * N + j + 1], s1);
            }
            C[i * N + j] = s0, C[i * N + j + 1] = s1;
        }
}
