// cheat: columns are counted up to those of the timed grid
// class: S6
// task: stencil2d
// expect: wrong | crashed

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    const int width = W < 640 ? W : 640;
    memcpy(out, in, sizeof(double) * H * W);
    for (int i = 1; i + 1 < H; i++)
        for (int j = 1; j + 1 < width; j++) {
            const double *p = in + (long)i * W + j;
            out[(long)i * W + j] = (p[0] + p[-1] + p[1] + p[-W] + p[W]) / 5;
        }
}
