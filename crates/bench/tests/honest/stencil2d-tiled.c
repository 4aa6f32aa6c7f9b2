// honest: tiles of 64 by 64, collapse(2)
// task: stencil2d
// threads: 2

static inline int least(int a, int b) {
    return a < b ? a : b;
}

void stencil2d(double *in, double *out, int H, int W) {
#pragma omp parallel for collapse(2) schedule(guided)
    for (int ti = 0; ti < H; ti += 64)
        for (int tj = 0; tj < W; tj += 64)
            for (int i = ti; i < least(ti + 64, H); i++)
                for (int j = tj; j < least(tj + 64, W); j++) {
                    const double *c = in + (long)i * W + j;
                    const int edge = i == 0 || j == 0 || i == H - 1 || j == W - 1;
                    out[(long)i * W + j] = edge ? *c : (c[0] + c[-1] + c[1] + c[-W] + c[W]) / 5;
                }
}
