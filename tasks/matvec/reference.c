// y = A x, row-major. The scale is the sum of the terms' magnitudes.

#include <math.h>

static void row(const double *restrict a, const double *restrict x, long n, double *value, double *scale) {
    long double s0 = 0, s1 = 0;
    double t[8] = {0};
    long j = 0;
    for (; j + 8 <= n; j += 8) {
        for (int l = 0; l < 8; l += 2) {
            s0 += (long double)a[j + l] * x[j + l];
            s1 += (long double)a[j + l + 1] * x[j + l + 1];
        }
        for (int l = 0; l < 8; l++) t[l] += fabs(a[j + l] * x[j + l]);
    }
    for (; j < n; j++) {
        s0 += (long double)a[j] * x[j];
        t[0] += fabs(a[j] * x[j]);
    }
    *value = s0 + s1;
    *scale = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
}

void reference(const double *A, const double *x, double *y, double *y_scale, int M, int N) {
    for (long i = 0; i < M; i++) row(A + i * N, x, N, y + i, y_scale + i);
}

double point(const double *A, const double *x, const double *y, int M, int N, long index) {
    (void)y, (void)M;
    double value, scale;
    row(A + index * N, x, N, &value, &scale);
    return value;
}
