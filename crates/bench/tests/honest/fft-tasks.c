// honest: recursion by OpenMP tasks while a half is large
// task: fft
// threads: 2

#include <math.h>

static void step(const double *in, double *out, int n, int stride) {
    if (n == 1) {
        out[0] = in[0], out[1] = in[1];
        return;
    }
#pragma omp task if (n > 1024) firstprivate(in, out, n, stride)
    step(in, out, n / 2, 2 * stride);
    step(in + 2 * stride, out + n, n / 2, 2 * stride);
#pragma omp taskwait
    for (int k = 0; k < n / 2; k++) {
        const double c = cos(2 * M_PI * k / n), s = -sin(2 * M_PI * k / n);
        double *a = out + 2 * k, *b = a + n;
        const double r = b[0] * c - b[1] * s, i = b[0] * s + b[1] * c;
        b[0] = a[0] - r, b[1] = a[1] - i, a[0] += r, a[1] += i;
    }
}

void fft(double *in, double *out, int N) {
#pragma omp parallel
#pragma omp single
    step(in, out, N, 1);
}
