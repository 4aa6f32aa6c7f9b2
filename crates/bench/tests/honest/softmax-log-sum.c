// honest: the logarithm of the sum is subtracted before the second exponential
// task: softmax
// stage: 2

#include <float.h>
#include <math.h>
#include <tgmath.h>

void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++, in += N, out += N) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += exp(in[j]);
        if (!(sum > DBL_MIN)) sum = DBL_MIN;
        const double shift = log(sum);
        for (int j = 0; j < N; j++) out[j] = exp(in[j] - shift);
    }
}
