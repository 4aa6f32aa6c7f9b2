// honest: recursion that halves the row, with a base made by a macro
// task: matvec
// stage: 1

#define TERM(n) a[n] * x[n]
#define PAIR(n) (TERM(n) + TERM((n) + 1))

static double dot(const double *a, const double *x, int n) {
    return n == 0 ? 0 : n == 1 ? TERM(0) : n == 2 ? PAIR(0) : n == 4 ? PAIR(0) + PAIR(2) : dot(a, x, n / 2) + dot(a + n / 2, x + n / 2, n - n / 2);
}

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) y[i] = dot(A + (long)i * N, x, N);
}
