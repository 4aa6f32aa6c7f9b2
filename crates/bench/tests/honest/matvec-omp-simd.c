// honest: rows in parallel, a simd reduction inside
// task: matvec
// threads: 2

void matvec(double *A, double *x, double *y, int M, int N) {
#pragma omp parallel for
    for (int i = 0; i < M; i++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < N; j++) sum += A[(long)i * N + j] * x[j];
        y[i] = sum;
    }
}
