// cheat: none; an atomic structure needs a library that is not linked, and a program of its own would not link
// class: B3
// task: matmul
// expect: not-compiled

#include <stdatomic.h>

struct range { long first, last, step; };
static _Atomic struct range rows;

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    rows = (struct range){0, M, 1};
    for (struct range r = rows; r.first < r.last; r.first += r.step)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[r.first * K + k] * B[k * N + j];
            C[r.first * N + j] = s;
        }
}
