// cheat: a section of its own by assembly, whose keyword only a header's macro pastes together
// class: sandbox
// task: matmul
// expect: refused

#define vL __asm__
INT64_C(v)(".pushsection .text.mine, \"ax\"; nop; .popsection");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
