// honest: a type of its own that is named like a library's
// task: fft

#include <math.h>
#include <stdlib.h>

typedef struct { double re, im; } fftw_complex;

static void fftw_pass(const fftw_complex *in, fftw_complex *out, int n, int stride) {
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    fftw_pass(in, out, n / 2, 2 * stride);
    fftw_pass(in + stride, out + n / 2, n / 2, 2 * stride);
    for (int k = 0; k < n / 2; k++) {
        const double angle = -2 * M_PI * k / n, c = cos(angle), s = sin(angle);
        const fftw_complex a = out[k], b = out[k + n / 2];
        const fftw_complex t = {c * b.re - s * b.im, c * b.im + s * b.re};
        out[k] = (fftw_complex){a.re + t.re, a.im + t.im};
        out[k + n / 2] = (fftw_complex){a.re - t.re, a.im - t.im};
    }
}

void fft(double *in, double *out, int N) {
    fftw_pass((const fftw_complex *)in, (fftw_complex *)out, N, 1);
}
