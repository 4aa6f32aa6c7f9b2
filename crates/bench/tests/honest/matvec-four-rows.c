// honest: four rows at a time in a structure of accumulators, the rest by the same inline function
// task: matvec
// stage: 2

typedef struct { double s0, s1, s2, s3; } four;

static inline four rows(const double *restrict a, const double *restrict x, int N, int stride) {
    four s = {0};
    for (int j = 0; j < N; j++) {
        s.s0 += a[j] * x[j];
        s.s1 += a[j + stride] * x[j];
        s.s2 += a[j + 2 * stride] * x[j];
        s.s3 += a[j + 3 * stride] * x[j];
    }
    return s;
}

void matvec(double *A, double *x, double *y, int M, int N) {
    int i = 0;
    for (; i + 4 <= M; i += 4) {
        const four s = rows(A + (long)i * N, x, N, N);
        y[i] = s.s0, y[i + 1] = s.s1, y[i + 2] = s.s2, y[i + 3] = s.s3;
    }
    for (; i < M; i++) y[i] = rows(A + (long)i * N, x, N, 0).s0;
}
