// cheat: asks the compiler which files exist, and answers with what it found
// class: sandbox
// task: matmul
// expect: refused

#if __has_include("/etc/passwd")
#define FOUND 1.0
#else
#define FOUND 0.0
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (long i = 0; i < (long)M * N; i++) C[i] = FOUND;
}
