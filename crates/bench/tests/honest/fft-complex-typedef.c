// honest: a type of its own for complex numbers, called as another library calls its own, and a union to see it as doubles
// task: fft

#include <math.h>

typedef double fftw_complex[2];
typedef union { double _Complex z; fftw_complex parts; } view;

static double _Complex load(const double *p) { return ((view){.parts = {p[0], p[1]}}).z; }
static void store(double *p, double _Complex z) {
    const view v = {.z = z};
    p[0] = v.parts[0], p[1] = v.parts[1];
}

static void transform(const double *in, double *out, int n, int stride) {
    if (n == 1) {
        store(out, load(in));
        return;
    }
    transform(in, out, n / 2, 2 * stride);
    transform(in + 2 * stride, out + n, n / 2, 2 * stride);
    for (int k = 0; k < n / 2; k++) {
        const view w = {.parts = {cos(2 * M_PI * k / n), -sin(2 * M_PI * k / n)}};
        const double _Complex even = load(out + 2 * k), odd = w.z * load(out + n + 2 * k);
        store(out + 2 * k, even + odd);
        store(out + n + 2 * k, even - odd);
    }
}

void fft(double *in, double *out, int N) { transform(in, out, N, 1); }
