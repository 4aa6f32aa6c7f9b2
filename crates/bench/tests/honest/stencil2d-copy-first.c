// honest: copies everything, then overwrites the inside
// task: stencil2d

#include <string.h>

#define AT(g, i, j) (g)[(long)(i) * W + (j)]
void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * H * W);
    for (int i = 1; i < H - 1; ++i)
        for (int j = 1; j < W - 1; ++j)
            AT(out, i, j) = (AT(in, i, j) + AT(in, i - 1, j) + AT(in, i + 1, j) + AT(in, i, j - 1) + AT(in, i, j + 1)) / 5.0;
}
