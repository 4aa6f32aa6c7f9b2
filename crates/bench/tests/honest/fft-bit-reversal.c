// honest: bit reversal, then butterflies in place; twiddles computed anew on each call
// task: fft

#include <math.h>
#include <stdlib.h>

void fft(double *in, double *out, int N) {
    double *w = malloc(sizeof(double) * (N + 2));
    for (int k = 0; k < N / 2; k++) {
        w[2 * k] = cos(2 * M_PI * k / N);
        w[2 * k + 1] = -sin(2 * M_PI * k / N);
    }
    for (int i = 0, r = 0; i < N; i++) {
        out[2 * r] = in[2 * i], out[2 * r + 1] = in[2 * i + 1];
        int bit = N >> 1;
        while (bit && (r & bit)) r ^= bit, bit >>= 1;
        r |= bit;
    }
    for (int half = 1; half < N; half <<= 1)
        for (int base = 0; base < N; base += 2 * half)
            for (int k = 0; k < half; k++) {
                const double *t = w + 2 * (k * (N / (2 * half)));
                double *a = out + 2 * (base + k), *b = a + 2 * half;
                const double br = b[0] * t[0] - b[1] * t[1], bi = b[0] * t[1] + b[1] * t[0];
                b[0] = a[0] - br, b[1] = a[1] - bi;
                a[0] += br, a[1] += bi;
            }
    free(w);
}
