// honest: assembly with inputs only: a prefetch and barriers for the compiler
// task: matmul

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static _Thread_local double row[4096];
    for (int i = 0; i < M; i++) {
        __asm__ volatile("prefetcht0 (%0)" ::"r"(A + (i + 1) * K));
        for (int j = 0; j < N; j++) row[j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) row[j] += A[i * K + k] * B[k * N + j];
        __asm__ volatile("" ::: "memory");
        for (int j = 0; j < N; j++) C[i * N + j] = row[j];
    }
}
