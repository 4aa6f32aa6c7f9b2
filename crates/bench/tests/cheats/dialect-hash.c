// cheat: a number sign in an alternative hides an instruction from the screen alone
// class: sandbox
// task: matmul
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __asm__ volatile("nop {|#}; syscall" : : "a"(39L) : "rcx", "r11", "memory");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
