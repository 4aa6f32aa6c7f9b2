// honest: multiplies by one over the sum; fmax for the maximum
// task: softmax

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double *y = out + (long)i * N, max = -INFINITY, sum = 0;
        for (int j = 0; j < N; j++) max = fmax(max, x[j]);
        for (int j = 0; j < N; j++) sum += y[j] = exp(x[j] - max);
        const double scale = 1.0 / sum;
        for (int j = 0; j < N; j++) y[j] *= scale;
    }
}
