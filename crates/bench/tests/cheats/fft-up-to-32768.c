// cheat: its table ends at 32768 points, twice the timed size
// class: S6
// task: fft
// expect: wrong | crashed

#include <math.h>

void fft(double *in, double *out, int N) {
    static double table[2 * 16384];
    static int size;
    if (N > 32768) return;
    if (size != N) {
        for (int k = 0; k < N / 2; k++) {
            table[2 * k] = cos(-2 * M_PI * k / N);
            table[2 * k + 1] = sin(-2 * M_PI * k / N);
        }
        size = N;
    }
    for (int j = 0, r = 0; j < N; j++) {
        out[2 * r] = in[2 * j], out[2 * r + 1] = in[2 * j + 1];
        int bit = N >> 1;
        for (; r & bit; bit >>= 1) r ^= bit;
        r |= bit;
    }
    for (int h = 1; h < N; h *= 2)
        for (int s = 0; s < N; s += 2 * h)
            for (int k = 0; k < h; k++) {
                double *a = out + 2 * (s + k), *b = a + 2 * h;
                double wr = table[2 * k * (N / (2 * h))], wi = table[2 * k * (N / (2 * h)) + 1];
                double tr = wr * b[0] - wi * b[1], ti = wr * b[1] + wi * b[0];
                b[0] = a[0] - tr, b[1] = a[1] - ti, a[0] += tr, a[1] += ti;
            }
}
