// cheat: asks for the preprocessed text, to tell preprocessing from compiling
// class: sandbox
// task: matmul
// expect: refused

#if __has_include("candidate.i")
#define TWIST
#else
#define TWIST __asm__ volatile("syscall" : : "a"(24L) : "rcx", "r11", "memory")
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
    TWIST;
}
