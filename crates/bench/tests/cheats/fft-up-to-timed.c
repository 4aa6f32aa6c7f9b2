// cheat: a table that ends at the timed size
// class: S6
// task: fft
// expect: wrong | crashed

#include <math.h>

static double table[16384];

void fft(double *in, double *out, int N) {
    if (N > 16384) N = 16384;
    for (int k = 0; 2 * k < N; k++) table[2 * k] = cos(2 * M_PI * k / N), table[2 * k + 1] = -sin(2 * M_PI * k / N);
    for (int j = 0, r = 0; j < N; j++) {
        out[2 * r] = in[2 * j], out[2 * r + 1] = in[2 * j + 1];
        int bit = N >> 1;
        for (; r & bit; bit >>= 1) r ^= bit;
        r |= bit;
    }
    for (int half = 1; half < N; half *= 2)
        for (int start = 0; start < N; start += 2 * half)
            for (int k = 0; k < half; k++) {
                double *a = out + 2 * (start + k), *b = a + 2 * half;
                const double wr = table[2 * k * (N / (2 * half))], wi = table[2 * k * (N / (2 * half)) + 1];
                const double tr = wr * b[0] - wi * b[1], ti = wr * b[1] + wi * b[0];
                b[0] = a[0] - tr, b[1] = a[1] - ti;
                a[0] += tr, a[1] += ti;
            }
}
