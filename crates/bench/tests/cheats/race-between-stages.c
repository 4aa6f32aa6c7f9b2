// cheat: the stages of a transform run on two threads without a barrier between them
// class: S10
// task: fft
// threads: 2
// expect: wrong

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fft(double *in, double *out, int N) {
    double *roots = malloc(sizeof(double) * 2 * N), *first = malloc(sizeof(double) * 2 * N);
    double *second = malloc(sizeof(double) * 2 * N);
    int stages = 0;
    for (int n = N; n > 1; n /= 2) stages++;
    for (int k = 0; k < N; k++) roots[2 * k] = cos(2 * M_PI * k / N), roots[2 * k + 1] = -sin(2 * M_PI * k / N);
    memcpy(first, in, sizeof(double) * 2 * N);
#pragma omp parallel
    {
        double *x = first, *y = second;
        for (int l = N / 2, m = 1; l >= 1; l /= 2, m *= 2) {
#pragma omp for nowait
            for (int t = 0; t < l * m; t++) {
                int j = t / m, k = t % m;
                const double *a = x + 2 * (k + j * m), *b = a + 2 * l * m, *w = roots + 2 * j * m;
                double *c = y + 2 * (k + 2 * j * m), *d = c + 2 * m;
                double re = a[0] - b[0], im = a[1] - b[1];
                c[0] = a[0] + b[0], c[1] = a[1] + b[1];
                d[0] = re * w[0] - im * w[1], d[1] = re * w[1] + im * w[0];
            }
            double *swap = x;
            x = y, y = swap;
        }
    }
    memcpy(out, stages % 2 ? second : first, sizeof(double) * 2 * N);
    free(roots), free(first), free(second);
}
