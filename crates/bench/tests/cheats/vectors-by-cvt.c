// cheat: converts two numbers at once, by assembly words that no list of vectors has
// class: B3
// task: softmax
// stage: 1
// expect: refused

#include <math.h>

static int whole(double x) {
    int number;
    __asm__("cvtpd2dq %1, %1\n\tmovd %1, %0" : "=r"(number), "+x"(x));
    return number;
}
void softmax(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) {
        double most = -INFINITY, sum = 0;
        for (int j = 0; j < N; j++) most = fmax(most, in[(long)i * N + j]);
        for (int j = 0; j < N; j++) {
            double x = in[(long)i * N + j] - most;
            int shift = whole(x * 1.4426950408889634);
            sum += out[(long)i * N + j] = ldexp(exp(x - shift * 0.6931471805599453094), shift);
        }
        for (int j = 0; j < N; j++) out[(long)i * N + j] /= sum;
    }
}
