// cheat: leaves the boundary as it was
// class: S2
// task: stencil2d
// expect: wrong

void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 1; i < H - 1; i++)
        for (int j = 1; j < W - 1; j++) {
            const double *c = in + i * W + j;
            out[i * W + j] = (c[0] + c[1] + c[-1] + c[W] + c[-W]) / 5;
        }
}
