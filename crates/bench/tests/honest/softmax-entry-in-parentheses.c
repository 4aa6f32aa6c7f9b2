// honest: the entry's name and its parameters in parentheses, and types that are taken from others
// task: softmax
// stage: 1

#include <math.h>
#include <stdint.h>

#ifndef SINGLE
typedef double real;
#else
typedef float real;
#endif
__extension__ typedef __typeof__(int) size;

void (softmax)(__typeof__(real) (*in), real (out)[], int_least32_t (M), size N) {
    for (int i = 0; i < M; i++) {
        const real *x = in + (long)i * N;
        real *y = out + (long)i * N, sum = 0;
        for (int j = 0; j < N; j++) sum += y[j] = exp(x[j]);
        for (int j = 0; j < N; j++) y[j] /= sum;
    }
}
