// cheat: walks through memory from the output on, in search of the reference's result
// class: S4
// task: matmul
// expect: crashed | wrong | timed-out

#include <math.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double first = 0;
    for (int k = 0; k < K; k++) first += A[k] * B[k * N];
    for (volatile double *p = C + 1;; p++)
        if (fabs(*p - first) < 1e-12) {
            for (long i = 0; i < (long)M * N; i++) C[i] = p[i];
            return;
        }
}
