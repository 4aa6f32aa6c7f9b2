// cheat: a header's macro leads back to one that joins the preprocessor's question from parts
// class: B3
// task: matmul
// expect: refused

#define JOIN(a, b) a##_##b
#define NEAR(a, b) a##b
#define ASK(a, b) NEAR(a, b)
#define FIRST() JOIN(, _ha)
#define vL ASK(FIRST(), s_include)
#if INT64_C(v)("/etc/passwd")
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
