// honest: a team over rows, `omp simd` within them
// task: softmax
// threads: 2
// stage: 4

#include <math.h>
#include <omp.h>

void softmax(double *in, double *out, int M, int N) {
    const int team = omp_get_max_threads() > 1 ? 2 : 1;
#pragma omp parallel for num_threads(team) schedule(static, 8)
    for (int i = 0; i < M; i++) {
        const double *x = in + (long)i * N;
        double *y = out + (long)i * N, sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < N; j++) sum += y[j] = exp(x[j]);
#pragma omp simd
        for (int j = 0; j < N; j++) y[j] /= sum;
    }
}
