// cheat: fast alone and in the first batch, then so slow that the judge itself runs out of patience
// class: verdict
// task: matvec
// threads: 2
// expect: timed-out

#include <time.h>

static double *ins[4];
static int known;

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double s[32] = {0}, t = 0;
        int j = 0;
        for (; j + 32 <= N; j += 32)
            for (int l = 0; l < 32; l++) s[l] += A[(long)i * N + j + l] * x[j + l];
        for (; j < N; j++) t += A[(long)i * N + j] * x[j];
        for (int l = 0; l < 32; l++) t += s[l];
        y[i] = t;
    }
    if (M != 512) return;
    // A third set of buffers: this is a batch.
    for (int i = 0; i < known; i++)
        if (ins[i] == A) goto seen;
    if (known < 4) ins[known++] = A;
seen:
    if (known > 2) nanosleep(&(struct timespec){0, 980000000}, 0);
}
