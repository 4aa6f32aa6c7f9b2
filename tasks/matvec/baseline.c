extern void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);

void matvec(double *A, double *x, double *y, int M, int N) {
    cblas_dgemv(101, 111, M, N, 1.0, A, N, x, 1, 0.0, y, 1); // row-major, not transposed
}
