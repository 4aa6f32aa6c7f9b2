// cheat: the zero frequency only
// class: S1
// task: fft
// expect: wrong

#include <string.h>

void fft(double *in, double *out, int N) {
    memset(out, 0, 16L * N);
    for (int j = 0; j < N; j++) out[0] += in[2 * j], out[1] += in[2 * j + 1];
}
