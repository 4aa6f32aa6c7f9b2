// honest: grids as pointers to rows of variable length
// task: stencil2d
// stage: 1

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    double(*const g)[W] = (void *)in, (*const o)[W] = (void *)out;
    memcpy(o[0], g[0], sizeof *g);
    for (int i = 1; i < H - 1; i++) {
        o[i][0] = g[i][0];
        for (int j = 1; j < W - 1; j++) o[i][j] = (g[i][j] + g[i][j - 1] + g[i][j + 1] + g[i - 1][j] + g[i + 1][j]) / 5;
        o[i][W - 1] = g[i][W - 1];
    }
    memcpy(o[H - 1], g[H - 1], sizeof *g);
}
