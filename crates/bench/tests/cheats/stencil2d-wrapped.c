// cheat: goes over all rows as one long one, so that the ends of neighbouring rows touch, and no boundary is kept
// class: wrong-algorithm
// task: stencil2d
// expect: wrong

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * H * W);
    for (long at = W; at < (long)(H - 1) * W; at++)
        out[at] = 0.2 * (in[at] + in[at - 1] + in[at + 1] + in[at - W] + in[at + W]);
}
