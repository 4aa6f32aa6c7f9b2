// cheat: a brace is missing
// class: malformed
// task: matmul
// expect: not-compiled | malformed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        C[i] = 0;
