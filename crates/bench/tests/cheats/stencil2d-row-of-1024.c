// cheat: keeps sums of a row in room for 1024 columns, somewhat more than the timed grid has
// class: S6
// task: stencil2d
// expect: wrong | crashed

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    double row[1024];
    int w = W < 1024 ? W : 1024;
    for (int i = 0; i < H; i++) {
        double *c = in + (long)i * W, *o = out + (long)i * W;
        if (i == 0 || i == H - 1) {
            memcpy(o, c, sizeof(double) * w);
            continue;
        }
        for (int j = 0; j < w; j++) row[j] = c[j] + c[j - W] + c[j + W];
        o[0] = c[0];
        for (int j = 1; j < w - 1; j++) o[j] = (row[j] + c[j - 1] + c[j + 1]) / 5;
        o[w - 1] = c[w - 1];
    }
}
