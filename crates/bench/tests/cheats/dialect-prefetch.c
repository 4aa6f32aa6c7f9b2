// cheat: alternatives cut the name of a prefetch in two
// class: B3
// task: matmul
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) __asm__ volatile("pre{|x}fetcht0 %0" : : "m"(B[k * N + j]));
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
