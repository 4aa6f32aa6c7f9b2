// honest: its work space is called signal, and a counter time
// task: fft

#include <complex.h>
#include <math.h>
#include <stdlib.h>

double complex *signal;
long time;

static void transform(double complex *x, int n, int step, double complex *out) {
    if (n == 1) {
        *out = *x;
        return;
    }
    transform(x, n / 2, 2 * step, out);
    transform(x + step, n / 2, 2 * step, out + n / 2);
    for (int k = 0; k < n / 2; k++) {
        double complex t = cexp(-2 * M_PI * I * k / n) * out[k + n / 2], e = out[k];
        out[k] = e + t;
        out[k + n / 2] = e - t;
    }
}

void fft(double *in, double *out, int N) {
    free(signal);
    signal = malloc(sizeof *signal * N);
    for (int j = 0; j < N; j++) signal[j] = in[2 * j] + I * in[2 * j + 1];
    transform(signal, N, 1, (double complex *)out);
    time++;
}
