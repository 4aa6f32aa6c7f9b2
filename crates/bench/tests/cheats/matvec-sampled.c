// cheat: sums every second column and doubles it
// class: S7
// task: matvec
// expect: wrong

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j += 2) s += A[i * N + j] * x[j];
        y[i] = 2 * s;
    }
}
