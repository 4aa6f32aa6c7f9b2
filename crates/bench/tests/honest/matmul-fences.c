// honest: instructions that order and wait, as words of assembly
// task: matmul

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
    __asm__ volatile("pause\n\tlfence\n\tmfence" : : : "memory");
    __asm__ volatile("sfence; nop; vzeroupper" ::: "memory");
}
