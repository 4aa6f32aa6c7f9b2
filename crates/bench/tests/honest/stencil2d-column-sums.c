// honest: sums of columns in a row of scratch of the thread, then the neighbours
// task: stencil2d

#include <stdlib.h>
#include <string.h>

static __thread double *sums;
static __thread int room;

void stencil2d(double *in, double *out, int H, int W) {
    if (W > room) sums = realloc(sums, sizeof(double) * (room = W));
    for (int i = 0; i < H; i++) {
        const double *c = in + (long)i * W;
        double *o = out + (long)i * W;
        memcpy(o, c, sizeof(double) * W);
        if (i == 0 || i == H - 1) continue;
        for (int j = 0; j < W; j++) sums[j] = c[j - W] + c[j] + c[j + W];
        for (int j = 1; j < W - 1; j++) o[j] = (sums[j] + c[j - 1] + c[j + 1]) / 5.0;
    }
}
