// honest: rows in parallel, a team started by hand
// task: softmax
// threads: 2

#include <math.h>
#include <omp.h>

void softmax(double *in, double *out, int M, int N) {
    omp_set_num_threads(2);
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double *y = out + (long)i * N, sum = 0;
        for (int j = 0; j < N; j++) {
            y[j] = exp(x[j]);
            sum += y[j];
        }
        for (int j = 0; j < N; j++) y[j] /= sum;
    }
}
