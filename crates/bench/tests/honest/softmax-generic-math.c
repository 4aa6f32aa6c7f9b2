// honest: type-generic mathematics, in a stage that forbids most
// task: softmax
// stage: 1

#include <tgmath.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double most = in[i * N], sum = 0;
        for (int j = 1; j < N; j++) most = fmax(most, in[i * N + j]);
        for (int j = 0; j < N; j++) sum += out[i * N + j] = exp(in[i * N + j] - most);
        for (int j = 0; j < N; j++) out[i * N + j] /= sum;
    }
}
