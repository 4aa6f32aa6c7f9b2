// cheat: seven digits of fixed point
// class: S7
// task: stencil2d
// expect: wrong

#include <string.h>
#include <math.h>

void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * H * W);
    for (int i = 1; i < H - 1; i++)
        for (int j = 1; j < W - 1; j++) {
            const double *c = in + i * W + j;
            out[i * W + j] = truncf((float)(1e7 * (c[0] + c[1] + c[-1] + c[W] + c[-W]) / 5)) * 1e-7;
        }
}
