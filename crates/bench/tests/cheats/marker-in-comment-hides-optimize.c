// cheat: a line marker in a comment, where the screen's text is split and read anew: what the compiler reads as code, the screen reads as a comment; a pragma that changes the level
// class: B3
// task: matmul
// expect: refused

/*
# 7 "candidate.c"
/*/
#pragma GCC optimize("O3,fast-math,unroll-loops")
/**/

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
