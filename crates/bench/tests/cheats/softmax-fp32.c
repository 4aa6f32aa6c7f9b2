// cheat: single-precision exponentials
// class: S7
// task: softmax
// expect: wrong

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j++) s += out[i * N + j] = expf((float)in[i * N + j]);
        for (int j = 0; j < N; j++) out[i * N + j] /= s;
    }
}
