// out = exp(in - max) / sum of exp(in - max), row by row. The scale is the value.

#include <math.h>

// exp(x - y) to about one ulp: what the subtraction loses is put back.
static double exp_difference(double x, double y) {
    const double d = x - y, back = d + y;
    const double lost = (x - back) + (y - (back - d));
    return exp(d) * (1 + lost);
}

static double largest(const double *x, long n) {
    double m = x[0];
    for (long j = 1; j < n; j++) m = x[j] > m ? x[j] : m;
    return m;
}

void reference(const double *in, double *out, double *out_scale, int M, int N) {
    for (long i = 0; i < M; i++) {
        const double *x = in + i * N;
        double *y = out + i * N, *scale = out_scale + i * N;
        const double max = largest(x, N);
        long double sum = 0;
        for (long j = 0; j < N; j++) {
            y[j] = exp_difference(x[j], max);
            sum += y[j];
        }
        for (long j = 0; j < N; j++) {
            y[j] = y[j] / sum;
            scale[j] = y[j];
        }
    }
}

double point(const double *in, const double *out, int M, int N, long index) {
    (void)out, (void)M;
    const double *x = in + index / N * N;
    const double max = largest(x, N);
    long double sum = 0;
    for (long j = 0; j < N; j++) sum += exp_difference(x[j], max);
    return exp_difference(x[index % N], max) / sum;
}
