// honest: vectors of the compiler's own kind, with unaligned loads through a packed type
// task: stencil2d
// stage: 3

#include <string.h>

typedef double v4 __attribute__((vector_size(32)));
typedef v4 loose __attribute__((aligned(8), may_alias));

void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++) {
        const double *c = in + (long)i * W;
        double *o = out + (long)i * W;
        memcpy(o, c, sizeof(double) * W);
        if (i == 0 || i == H - 1) continue;
        int j = 1;
        for (; j + 4 < W; j += 4)
            *(loose *)(o + j) = (*(loose *)(c + j) + *(loose *)(c + j - 1) + *(loose *)(c + j + 1) + *(loose *)(c + j - W) + *(loose *)(c + j + W)) / 5.0;
        for (; j < W - 1; j++) o[j] = (c[j] + c[j - 1] + c[j + 1] + c[j - W] + c[j + W]) / 5.0;
    }
}
