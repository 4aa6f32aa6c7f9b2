// cheat: keeps a copy of the first x for all calls
// class: T7
// task: matvec
// expect: wrong

#include <stdlib.h>
#include <string.h>

static double *kept;
static int length;
void matvec(double *A, double *x, double *y, int M, int N) {
    if (length != N) {
        kept = realloc(kept, sizeof(double) * N);
        memcpy(kept, x, sizeof(double) * N);
        length = N;
    }
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int j = 0; j < N; j++) s += A[i * N + j] * kept[j];
        y[i] = s;
    }
}
