// cheat: a pragma whose string has escapes: a compiler undoes only two of them, a reader who undoes all sees a string there
// class: B3
// task: matmul
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            _Pragma("/*\x2a\x2f\x22*/ omp simd reduction(+ : s) //\x22")
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
