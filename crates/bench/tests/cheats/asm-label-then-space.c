// cheat: a label with a space before its colon, and behind it a directive: machine code that nobody reads as such
// class: B3
// task: matmul
// stage: 4
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            // prefetcht0 (%rdi)
            __asm__ volatile("1 : .byte 0x0f, 0x18, 0x0f" : : "D"(B + j));
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
