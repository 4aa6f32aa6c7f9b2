// cheat: two slashes begin a comment for one assembler and not for the other
// class: sandbox
// task: matmul
// compiler: clang
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __asm__ volatile("nop // /*\n syscall\n nop // */" : : "a"(39L) : "rcx", "r11", "memory");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
