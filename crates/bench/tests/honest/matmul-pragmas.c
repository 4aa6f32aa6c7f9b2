// honest: pragmas that compilers know or pass over, none of which changes target or level
// task: matmul

#pragma GCC push_options
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma STDC FP_CONTRACT ON
#pragma GCC poison gets
#pragma message "for people"

static void clear(double *row, int n) {
#pragma vector aligned
#pragma ivdep
    for (int j = 0; j < n; j++) row[j] = 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++) {
        clear(C + i * N, N);
        _Pragma("GCC unroll 4") for (int k = 0; k < K; k++) {
#pragma GCC ivdep
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
        }
    }
}

#pragma GCC diagnostic pop
#pragma GCC pop_options
