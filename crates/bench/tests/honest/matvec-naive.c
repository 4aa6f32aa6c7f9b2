// honest: the textbook loop
// task: matvec

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++) y[i] += A[i * N + j] * x[j];
    }
}
