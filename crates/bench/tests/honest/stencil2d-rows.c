// honest: boundary by memcpy, inside by pointers to three rows
// task: stencil2d

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * W);
    memcpy(out + (long)(H - 1) * W, in + (long)(H - 1) * W, sizeof(double) * W);
    for (int i = 1; i < H - 1; i++) {
        const double *restrict up = in + (long)(i - 1) * W, *restrict here = up + W, *restrict down = here + W;
        double *restrict o = out + (long)i * W;
        o[0] = here[0];
        for (int j = 1; j < W - 1; j++) o[j] = 0.2 * (here[j] + here[j - 1] + here[j + 1] + up[j] + down[j]);
        o[W - 1] = here[W - 1];
    }
}
