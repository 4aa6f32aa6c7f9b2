// honest: maximum and sum in one pass, the sum rescaled when the maximum grows
// task: softmax

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double max = x[0], sum = 1;
        for (int j = 1; j < N; j++) {
            if (x[j] > max) {
                sum = sum * exp(max - x[j]) + 1;
                max = x[j];
            } else {
                sum += exp(x[j] - max);
            }
        }
        for (int j = 0; j < N; j++) out[(long)i * N + j] = exp(x[j] - max) / sum;
    }
}
