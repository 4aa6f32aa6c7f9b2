// cheat: a system call in assembly under a header's macro
// class: sandbox
// task: matmul
// expect: refused

#define __builtin_offsetof(words, x) __asm__ volatile(words : : "a"(24L) : "rcx", "r11", "memory")
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    offsetof("syscall", x);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
