// honest: Stockham's form without bit reversal; tables kept from call to call
// task: fft

#include <stdlib.h>
#include <string.h>
#include <math.h>

static double *table, *scratch;
static int size;
void fft(double *in, double *out, int N) {
    if (size != N) {
        table = realloc(table, sizeof(double) * (N + 2));
        scratch = realloc(scratch, sizeof(double) * 2 * N);
        for (int k = 0; k < N / 2; k++) table[2 * k] = cos(2 * M_PI * k / N), table[2 * k + 1] = -sin(2 * M_PI * k / N);
        size = N;
    }
    int stages = 0;
    while ((1 << stages) < N) stages++;
    double *to = stages % 2 ? out : scratch, *from = stages % 2 ? scratch : out;
    memcpy(from, in, sizeof(double) * 2 * N);
    for (int n = N, s = 1; n > 1; n /= 2, s *= 2) {
        for (int p = 0; p < n / 2; p++) {
            const double wr = table[2 * p * s], wi = table[2 * p * s + 1];
            const double *a = from + 2L * s * p, *b = from + 2L * s * (p + n / 2);
            double *c = to + 4L * s * p, *d = c + 2 * s;
            for (int q = 0; q < 2 * s; q += 2) {
                const double dr = a[q] - b[q], di = a[q + 1] - b[q + 1];
                c[q] = a[q] + b[q], c[q + 1] = a[q + 1] + b[q + 1];
                d[q] = dr * wr - di * wi, d[q + 1] = dr * wi + di * wr;
            }
        }
        double *t = from;
        from = to;
        to = t;
    }
}
