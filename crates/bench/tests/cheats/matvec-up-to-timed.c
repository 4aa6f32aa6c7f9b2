// cheat: rows are counted up to those of the timed matrix
// class: S6
// task: matvec
// expect: wrong | crashed

void matvec(double *A, double *x, double *y, int M, int N) {
    const int rows = M < 512 ? M : 512;
    for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int j = 0; j < N; j++) s += A[(long)i * N + j] * x[j];
        y[i] = s;
    }
}
