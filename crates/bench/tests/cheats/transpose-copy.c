// cheat: copies instead of transposing
// class: S1
// task: transpose
// expect: wrong

#include <string.h>

void transpose(double *in, double *out, int M, int N) {
    memcpy(out, in, sizeof(double) * M * N);
}
