// honest: sums by recursion, halves first
// task: matvec

static double dot(const double *a, const double *x, int n) {
    if (n <= 8) {
        double s = 0;
        for (int j = 0; j < n; j++) s += a[j] * x[j];
        return s;
    }
    return dot(a, x, n / 2) + dot(a + n / 2, x + n / 2, n - n / 2);
}

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) y[i] = dot(A + (long)i * N, x, N);
}
