// cheat: uses new values of neighbours (Gauss-Seidel), which converges faster
// class: wrong-algorithm
// task: stencil2d
// expect: wrong

#include <string.h>

void stencil2d(double *in, double *out, int H, int W) {
    memcpy(out, in, sizeof(double) * H * W);
    for (int i = 1; i < H - 1; i++)
        for (int j = 1; j < W - 1; j++) {
            double *c = out + i * W + j;
            c[0] = (c[0] + c[1] + c[-1] + c[W] + c[-W]) / 5;
        }
}
