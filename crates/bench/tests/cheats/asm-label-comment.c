// cheat: a name for the assembler hides an instruction behind comments
// class: sandbox
// task: matmul
// expect: refused

extern int stow __asm__("stow # /*\n\tsyscall\n# */");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
