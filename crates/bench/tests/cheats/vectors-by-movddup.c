// cheat: doubles a number into both halves of a register, by an assembly word that no list of vectors has
// class: B3
// task: matmul
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) {
                double a = A[i * K + k];
                __asm__("movddup %0, %0" : "+x"(a));
                s += a * B[k * N + j];
            }
            C[i * N + j] = s;
        }
}
