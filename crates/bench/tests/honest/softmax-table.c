// honest: a static table of powers of two, filled on the first call, and a short series for the rest
// task: softmax

#include <math.h>

enum { PARTS = 256 };
static double table[PARTS];

static double power(double x) {
    const double scaled = x * (PARTS * M_LOG2E), whole = floor(scaled);
    const double rest = (x - whole * 0x1.62e42fefa0000p-9) - whole * 0x1.cf79abc9e3b3ap-48;
    const int index = (int)whole & (PARTS - 1), exponent = ((int)whole - index) / PARTS;
    const double series = 1 + rest * (1 + rest * (1 / 2. + rest * (1 / 6. + rest * (1 / 24. + rest * (1 / 120.)))));
    return ldexp(table[index] * series, exponent);
}

void softmax(double *in, double *out, int M, int N) {
    if (table[0] == 0)
        for (int p = 0; p < PARTS; p++) table[p] = exp2((double)p / PARTS);
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += out[i * N + j] = power(in[i * N + j]);
        for (int j = 0; j < N; j++) out[i * N + j] /= sum;
    }
}
