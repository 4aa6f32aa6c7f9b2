// honest: steps of four where they fit, one step of two where they do not
// task: fft
// stage: 1

#include <math.h>

static void fft4(const double *in, double *out, int n, int s) {
    if (n == 1) {
        out[0] = in[0], out[1] = in[1];
    } else if (n == 2) {
        const double *b = in + 2 * s;
        out[0] = in[0] + b[0], out[1] = in[1] + b[1];
        out[2] = in[0] - b[0], out[3] = in[1] - b[1];
    } else {
        const int q = n / 4;
        for (int r = 0; r < 4; r++) fft4(in + 2 * r * s, out + 2 * r * q, q, 4 * s);
        for (int k = 0; k < q; k++) {
            double re[4], im[4];
            for (int r = 0; r < 4; r++) {
                const double c = cos(2 * M_PI * k * r / n), d = -sin(2 * M_PI * k * r / n);
                const double *x = out + 2 * (r * q + k);
                re[r] = x[0] * c - x[1] * d, im[r] = x[0] * d + x[1] * c;
            }
            const double pr = re[0] + re[2], pi = im[0] + im[2], mr = re[0] - re[2], mi = im[0] - im[2];
            const double sr = re[1] + re[3], si = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
            double *o = out + 2 * k;
            o[0] = pr + sr, o[1] = pi + si;
            o[2 * q] = mr + di, o[2 * q + 1] = mi - dr;
            o[4 * q] = pr - sr, o[4 * q + 1] = pi - si;
            o[6 * q] = mr - di, o[6 * q + 1] = mi + dr;
        }
    }
}

void fft(double *in, double *out, int N) { fft4(in, out, N, 1); }
