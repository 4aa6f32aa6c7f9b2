#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double max = in[i * N];
        for (int j = 1; j < N; j++) {
            if (in[i * N + j] > max) max = in[i * N + j];
        }
        double sum = 0.0;
        for (int j = 0; j < N; j++) {
            out[i * N + j] = exp(in[i * N + j] - max);
            sum += out[i * N + j];
        }
        for (int j = 0; j < N; j++) {
            out[i * N + j] /= sum;
        }
    }
}
