// honest: twiddles in complex numbers of long double, whose products are functions of the compiler's library
// task: fft

#include <complex.h>
#include <math.h>
#include <string.h>

void fft(double *in, double *out, int N) {
    int bits = 0;
    while ((1 << bits) < N) bits++;
    for (int i = 0; i < N; i++) {
        int to = 0;
        for (int b = 0; b < bits; b++) to |= (i >> b & 1) << (bits - 1 - b);
        memcpy(out + 2 * (long)to, in + 2 * (long)i, 2 * sizeof *in);
    }
    for (int length = 2; length <= N; length *= 2) {
        long double complex step = cexpl(-2 * acosl(-1) * I / length), w = 1;
        for (int k = 0; k < length / 2; k++, w *= step)
            for (int start = k; start < N; start += length) {
                double *a = out + 2 * (long)start, *b = a + length;
                double wr = creall(w), wi = cimagl(w);
                double re = wr * b[0] - wi * b[1], im = wr * b[1] + wi * b[0];
                b[0] = a[0] - re, b[1] = a[1] - im;
                a[0] += re, a[1] += im;
            }
    }
}
