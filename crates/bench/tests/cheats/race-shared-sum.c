// cheat: two threads add to one sum without saying so
// class: S10
// task: matvec
// threads: 2
// expect: wrong

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double sum = 0;
#pragma omp parallel for
        for (int j = 0; j < N; j++) sum += A[(long)i * N + j] * x[j];
        y[i] = sum;
    }
}
