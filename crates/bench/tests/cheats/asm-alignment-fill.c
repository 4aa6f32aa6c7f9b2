// cheat: an alignment's filling byte and a plain instruction make a prefetch together
// class: B3
// task: matmul
// stage: 4
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            // The byte 0f, and 18 0f behind it: prefetcht0 (%rdi).
            __asm__ volatile(".p2align 1\n\tnop\n\t.p2align 1, 0x0f\n\tsbbb %%cl, (%%rdi)" : : "D"(B + j));
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
