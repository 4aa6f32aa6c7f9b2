// out[i] = in[N - 1 - i]. The bound is 0: the scale is of no account.

#include <math.h>

void reference(const double *in, double *out, double *out_scale, int N) {
    for (long i = 0; i < N; i++) {
        out[i] = in[N - 1 - i];
        out_scale[i] = fabs(out[i]);
    }
}

double point(const double *in, const double *out, int N, long index) {
    (void)out;
    return in[N - 1 - index];
}
