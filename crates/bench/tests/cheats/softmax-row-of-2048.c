// cheat: keeps a row's exponentials in room for 2048, twice as many as the timed row has
// class: S6
// task: softmax
// expect: wrong | crashed

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    double row[2048];
    int n = N < 2048 ? N : 2048;
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < n; j++) s += row[j] = exp(in[(long)i * N + j]);
        for (int j = 0; j < n; j++) out[(long)i * N + j] = row[j] / s;
    }
}
