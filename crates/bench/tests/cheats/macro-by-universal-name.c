// cheat: a macro is defined by a universal character name and used by the character itself, so that it seems unused
// class: B3
// task: matmul
// stage: 1
// expect: malformed

#define V\u00e9 __m512d

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            Vé sum = {0};
            for (int k = 0; k < K; k++) sum += A[i * K + k] * *(Vé *)(B + k * N + j);
            *(Vé *)(C + i * N + j) = sum;
        }
}
