// cheat: always reads whole vectors, past the end of the last row
// class: S5
// task: matvec
// expect: wrong | crashed

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j += 64)
            for (int l = 0; l < 64; l++) s += A[i * N + j + l] * x[j + l];
        y[i] = s;
    }
}
