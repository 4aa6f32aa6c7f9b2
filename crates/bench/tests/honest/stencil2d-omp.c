// honest: rows in parallel, boundary rows by the same loop
// task: stencil2d
// threads: 2

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < H; i++) {
        const double *c = in + (long)i * W;
        double *o = out + (long)i * W;
        if (i == 0 || i == H - 1 || W < 3) {
            memcpy(o, c, sizeof(double) * W);
            continue;
        }
        o[0] = c[0];
        o[W - 1] = c[W - 1];
#pragma omp simd
        for (int j = 1; j < W - 1; j++) o[j] = ((c[j - 1] + c[j + 1]) + (c[j - W] + c[j + W]) + c[j]) * 0.2;
    }
}
