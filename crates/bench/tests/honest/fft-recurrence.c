// honest: roots by repeated multiplication
// task: fft

#include <math.h>

void fft(double *in, double *out, int N) {
    for (int i = 0, r = 0; i < N; i++) {
        out[2 * r] = in[2 * i], out[2 * r + 1] = in[2 * i + 1];
        int bit = N >> 1;
        for (; r & bit; bit >>= 1) r ^= bit;
        r ^= bit;
    }
    for (int len = 2; len <= N; len <<= 1) {
        const double c = cos(2 * M_PI / len), s = -sin(2 * M_PI / len);
        for (int i = 0; i < N; i += len) {
            double wr = 1, wi = 0;
            for (int k = 0; k < len / 2; k++) {
                double *u = out + 2 * (i + k), *v = u + len;
                const double tr = v[0] * wr - v[1] * wi, ti = v[0] * wi + v[1] * wr;
                v[0] = u[0] - tr, v[1] = u[1] - ti, u[0] += tr, u[1] += ti;
                const double next = wr * c - wi * s;
                wi = wr * s + wi * c;
                wr = next;
            }
        }
    }
}
