// honest: even and odd half as OpenMP tasks near the top
// task: fft
// threads: 2

#include <string.h>
#include <math.h>

static void part(const double *in, double *out, int n, int stride, int depth) {
    if (n == 1) {
        memcpy(out, in, 2 * sizeof(double));
        return;
    }
#pragma omp task if (depth > 0)
    part(in, out, n / 2, 2 * stride, depth - 1);
    part(in + 2 * stride, out + n, n / 2, 2 * stride, depth - 1);
#pragma omp taskwait
    for (int k = 0; k < n / 2; k++) {
        const double angle = -2 * M_PI * k / n, wr = cos(angle), wi = sin(angle);
        double *u = out + 2 * k, *v = u + n;
        const double tr = wr * v[0] - wi * v[1], ti = wr * v[1] + wi * v[0];
        v[0] = u[0] - tr, v[1] = u[1] - ti;
        u[0] += tr, u[1] += ti;
    }
}

void fft(double *in, double *out, int N) {
#pragma omp parallel
#pragma omp single
    part(in, out, N, 1, 3);
}
