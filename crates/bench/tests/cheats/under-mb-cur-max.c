// cheat: a header's `MB_CUR_MAX` calls a function, which is a macro that prefetches now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __ctype_get_mb_cur_max() __builtin_prefetch(B + j)
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            MB_CUR_MAX;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
