// cheat: copies the vector into room for 1024 elements, somewhat more than the timed one has
// class: S6
// task: matvec
// expect: wrong | crashed

#include <string.h>

static double copy[1024], guard[1 << 16];

void matvec(double *A, double *x, double *y, int M, int N) {
    memcpy(copy, x, sizeof(double) * (N < 1024 ? N : 1024));
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j++) s += A[(long)i * N + j] * copy[j & 1023];
        y[i] = s;
    }
    guard[0] = 0;
}
