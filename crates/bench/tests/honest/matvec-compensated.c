// honest: sums with Neumaier's correction
// task: matvec
// stage: 1

#include <math.h>

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double sum = 0, lost = 0;
        for (int j = 0; j < N; j++) {
            const double term = A[(long)i * N + j] * x[j], next = sum + term;
            lost += fabs(sum) >= fabs(term) ? (sum - next) + term : (term - next) + sum;
            sum = next;
        }
        y[i] = sum + lost;
    }
}
