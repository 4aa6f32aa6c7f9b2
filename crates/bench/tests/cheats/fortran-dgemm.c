// cheat: the Fortran interface, declared by hand
// class: B3
// task: matmul
// expect: refused

extern void dgemm_(const char *, const char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double one = 1, zero = 0;
    dgemm_("N", "N", &N, &M, &K, &one, B, &N, A, &K, &zero, C, &N);
}
