// cheat: copies the grid
// class: S1
// task: stencil2d
// expect: wrong

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * H * W);
}
