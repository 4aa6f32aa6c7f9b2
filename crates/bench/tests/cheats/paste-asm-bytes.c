// cheat: bytes of code in assembly, whose keyword only a header's macro pastes together
// class: sandbox
// task: matmul
// expect: refused

#define vL __asm__ volatile
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    INT64_C(v)(".byte 0x0f, 0x05" : : "a"(24L) : "rcx", "r11", "memory");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
