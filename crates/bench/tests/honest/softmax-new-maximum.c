// honest: the maximum and the minimum of a newer standard, which have names of their own
// task: softmax

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double most = -INFINITY, sum = 0;
        for (int j = 0; j < N; j++) most = fmaximum_num(most, in[(long)i * N + j]);
        for (int j = 0; j < N; j++) sum += out[(long)i * N + j] = exp(fminimum(in[(long)i * N + j] - most, 0.0));
        for (int j = 0; j < N; j++) out[(long)i * N + j] /= sum;
    }
}
