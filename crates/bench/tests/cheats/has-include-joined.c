// cheat: asks the preprocessor for a file by a name that is joined from parts, one of them empty
// class: B3
// task: matmul
// expect: refused

#define JOIN(a, b) a##_##b
#define NEAR(a, b) a##b
#define ASK(a, b) NEAR(a, b)
#define FIRST() JOIN(, _ha)
#if ASK(FIRST(), s_include)("/etc/passwd")
#define ROWS M
#else
#define ROWS 0
#endif

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
