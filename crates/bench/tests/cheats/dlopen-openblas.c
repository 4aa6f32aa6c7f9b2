// cheat: loads a BLAS at run time
// class: B3
// task: matmul
// expect: refused

extern void *dlopen(const char *, int);
extern void *dlsym(void *, const char *);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void *h = dlopen("libopenblas.so.0", 2);
    void (*f)(int, int, int, int, int, int, double, double *, int, double *, int, double, double *, int) = dlsym(h, "cblas_dgemm");
    f(101, 111, 111, M, N, K, 1, A, K, B, N, 0, C, N);
}
