// cheat: a module of its own within the source, whose text the screen has not read
// class: B3
// task: matmul
// compiler: clang
// stage: 1
// expect: refused | not-compiled

#pragma clang module build hidden
module hidden {}
#pragma clang module contents
#pragma clang module begin hidden
typedef double Wide __attribute__((vector_size(64)));
#pragma clang module end
#pragma clang module endbuild
#pragma clang module import hidden
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
