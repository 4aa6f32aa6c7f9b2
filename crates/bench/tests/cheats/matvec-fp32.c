// cheat: single precision throughout
// class: S7
// task: matvec
// expect: wrong

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        float s = 0;
        for (int j = 0; j < N; j++) s += (float)A[i * N + j] * (float)x[j];
        y[i] = s;
    }
}
