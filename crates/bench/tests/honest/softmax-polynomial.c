// honest: its own exponential: reduction by ln 2 and a polynomial of degree 13
// task: softmax

#include <stdint.h>

static inline double power(double x) {
    const double n = __builtin_rint(x * 1.4426950408889634074);
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const union { uint64_t u; double d; } scale = {.u = (uint64_t)((int64_t)n + 1023) << 52};
    return p * scale.d;
}

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double *y = out + (long)i * N, sum = 0;
        for (int j = 0; j < N; j++) y[j] = power(x[j]);
        for (int j = 0; j < N; j++) sum += y[j];
        for (int j = 0; j < N; j++) y[j] /= sum;
    }
}
