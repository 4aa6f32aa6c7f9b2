// cheat: roots of unity in single precision
// class: S7
// task: fft
// expect: wrong

#include <math.h>

static void step(const double *in, double *out, int N, int stride) {
    if (N == 1) {
        out[0] = in[0], out[1] = in[1];
        return;
    }
    step(in, out, N / 2, 2 * stride);
    step(in + 2 * stride, out + N, N / 2, 2 * stride);
    for (int k = 0; k < N / 2; k++) {
        const float angle = -2 * M_PI * k / N, wr = cosf(angle), wi = sinf(angle);
        double *a = out + 2 * k, *b = out + N + 2 * k;
        const double tr = wr * b[0] - wi * b[1], ti = wr * b[1] + wi * b[0];
        b[0] = a[0] - tr, b[1] = a[1] - ti;
        a[0] += tr, a[1] += ti;
    }
}

void fft(double *in, double *out, int N) {
    step(in, out, N, 1);
}
