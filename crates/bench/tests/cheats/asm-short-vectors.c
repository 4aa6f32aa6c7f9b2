// cheat: vector instructions with short names in inline assembly, their registers chosen by the compiler, where the stage forbids vectors
// class: B3
// task: matmul
// stage: 1
// expect: refused

static double Bt[256 * 256];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) Bt[j * K + k] = B[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k += 2) {
                double a, b;
                __asm__("lddqu (%2), %0\n\tlddqu (%3), %1\n\tdppd $0x31, %1, %0"
                        : "=&x"(a), "=&x"(b)
                        : "r"(A + i * K + k), "r"(Bt + j * K + k)
                        : "memory");
                s += a;
            }
            C[i * N + j] = s;
        }
}
