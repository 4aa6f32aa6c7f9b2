// cheat: takes the input for real numbers in pairs, whose transform has two equal halves, and computes one of them
// class: wrong-algorithm
// task: fft
// expect: wrong

#include <math.h>
#include <stdlib.h>

void fft(double *in, double *out, int N) {
    double *w = malloc(sizeof(double) * 2 * N);
    for (int k = 0; k < N; k++) w[2 * k] = cos(2 * M_PI * k / N), w[2 * k + 1] = -sin(2 * M_PI * k / N);
    int some = N < 64 ? N : 64;
    for (int k = 0; k <= N / 2; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < some; j++) {
            const double *r = w + 2 * (int)((long)j * k % N);
            re += in[2 * j] * r[0] - in[2 * j + 1] * r[1], im += in[2 * j] * r[1] + in[2 * j + 1] * r[0];
        }
        out[2 * k] = re, out[2 * k + 1] = im;
        if (k) out[2 * (N - k)] = re, out[2 * (N - k) + 1] = -im;
    }
    free(w);
}
