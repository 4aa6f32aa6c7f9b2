// cheat: the name pasted together by the preprocessor
// class: B3
// task: matmul
// expect: refused

#define JOIN(a, b, c) a##b##c
extern void JOIN(cb, las_d, gemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    JOIN(cb, las_d, gemm)(101, 111, 111, M, N, K, 1.0, A, K, B, N, 0.0, C, N);
}
