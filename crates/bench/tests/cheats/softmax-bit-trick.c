// cheat: the exponential by adding to the exponent's bits, right to two per cent
// class: S7
// task: softmax
// expect: wrong

#include <stdint.h>

static double quick(double x) {
    const union { int64_t i; double d; } v = {.i = (int64_t)(6497320848556798.0 * x + 4606853616395542500.0)};
    return v.d;
}

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j++) s += out[i * N + j] = quick(in[i * N + j]);
        for (int j = 0; j < N; j++) out[i * N + j] /= s;
    }
}
