// honest: recursive radix 2 with malloc'd halves
// task: fft

#include <stdlib.h>
#include <math.h>

static void split(const double *in, double *out, int n, int stride) {
    if (n == 1) {
        out[0] = in[0];
        out[1] = in[1];
        return;
    }
    double *even = malloc(sizeof(double) * n), *odd = malloc(sizeof(double) * n);
    split(in, even, n / 2, 2 * stride);
    split(in + 2 * stride, odd, n / 2, 2 * stride);
    for (int k = 0; k < n / 2; k++) {
        const double a = -2 * M_PI * k / n, c = cos(a), s = sin(a);
        const double tr = c * odd[2 * k] - s * odd[2 * k + 1], ti = c * odd[2 * k + 1] + s * odd[2 * k];
        out[2 * k] = even[2 * k] + tr, out[2 * k + 1] = even[2 * k + 1] + ti;
        out[n + 2 * k] = even[2 * k] - tr, out[n + 2 * k + 1] = even[2 * k + 1] - ti;
    }
    free(even);
    free(odd);
}

void fft(double *in, double *out, int N) {
    split(in, out, N, 1);
}
