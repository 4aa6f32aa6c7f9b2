// cheat: a row buffer that ends at the timed size
// class: S6
// task: softmax
// expect: wrong | crashed

#include <math.h>

static double row[1000];

void softmax(double *in, double *out, int M, int N) {
    const int kept = N < 1000 ? N : 1000;
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int j = 0; j < kept; j++) sum += row[j] = exp(in[(long)i * N + j]);
        for (int j = 0; j < kept; j++) out[(long)i * N + j] = row[j] / sum;
    }
}
