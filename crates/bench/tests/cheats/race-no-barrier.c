// cheat: rows are normalised before the other thread has added its share: a barrier was left out
// class: S10
// task: softmax
// threads: 2
// expect: wrong

#include <math.h>
void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double *y = out + (long)i * N, max = x[0], sum = 0;
        for (int j = 1; j < N; j++) max = x[j] > max ? x[j] : max;
#pragma omp parallel
        {
            double part = 0;
#pragma omp for nowait
            for (int j = 0; j < N; j++) part += y[j] = exp(x[j] - max);
#pragma omp atomic
            sum += part;
#pragma omp for
            for (int j = 0; j < N; j++) y[j] /= sum;
        }
    }
}
