// honest: loops by `goto`, labels in capitals, and computed jumps between the passes
// task: softmax
// stage: 1

#include <math.h>

void softmax(double *in, double *out, int M, int N) {
    static const void *const passes[] = {&&LARGEST, &&POWERS, &&SCALE, &&NEXT};
    int i = 0, j, pass;
    double largest, sum;
ROW:
    if (i == M) return;
    largest = -INFINITY, sum = 0, pass = 0;
PASS:
    j = 0;
    goto *passes[pass++];
LARGEST:
    largest = fmax(largest, in[j]);
    if (++j < N) goto LARGEST;
    goto PASS;
POWERS:
    sum += out[j] = exp(in[j] - largest);
    if (++j < N) goto POWERS;
    goto PASS;
SCALE:
    out[j] /= sum;
    if (++j < N) goto SCALE;
    goto PASS;
NEXT:
    in += N, out += N, i++;
    goto ROW;
}
