// honest: C99 complex numbers, cexp, bit reversal, iterative
// task: fft

#include <math.h>
#include <complex.h>

void fft(double *in, double *out, int N) {
    const double complex *a = (const double complex *)in;
    double complex *b = (double complex *)out;
    int bits = 0;
    while ((1 << bits) < N) bits++;
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int q = 0; q < bits; q++) r |= ((i >> q) & 1) << (bits - 1 - q);
        b[r] = a[i];
    }
    for (int half = 1; half < N; half *= 2)
        for (int k = 0; k < half; k++) {
            const double complex w = cexp(-I * M_PI * k / half);
            for (int s = k; s < N; s += 2 * half) {
                const double complex t = w * b[s + half];
                b[s + half] = b[s] - t;
                b[s] += t;
            }
        }
}
