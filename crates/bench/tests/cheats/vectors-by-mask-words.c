// cheat: adds masks of vectors, by assembly words that no list of vectors has
// class: B3
// task: matmul
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long ones = -1;
    __asm__ volatile("kmovq %0, %%k1\n\tkaddq %%k1, %%k1, %%k2\n\tkmovq %%k2, %0" : "+r"(ones));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s * -(ones + 1);
        }
}
