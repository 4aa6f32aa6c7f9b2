// honest: the loop pragmas that change no level: unroll and ivdep, by directive and by operator
// task: matmul
// stage: 2

#define UNROLL(n) _Pragma("GCC unroll 4")

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
#pragma GCC ivdep
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
#pragma GCC unroll 2
        for (int k = 0; k < K; k++) {
            const double a = A[i * K + k];
            UNROLL(4)
            for (int j = 0; j < N; j++) C[i * N + j] += a * B[k * N + j];
        }
    }
}
