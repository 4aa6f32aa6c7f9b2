// cheat: exponentials without the division
// class: S1
// task: softmax
// expect: wrong

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    for (long i = 0; i < (long)M * N; i++) out[i] = exp(in[i]);
}
