// honest: the upper and the lower half as two sections, a border as a third
// task: stencil2d
// threads: 2

static void omp_sweep_rows(const double *in, double *out, int from, int to, int W) {
    for (int i = from; i < to; i++) {
        const double *c = in + (long)i * W;
        for (int j = 1; j < W - 1; j++) out[(long)i * W + j] = (c[j] + c[j - 1] + c[j + 1] + c[j - W] + c[j + W]) / 5.0;
    }
}

void stencil2d(double *in, double *out, int H, int W) {
#pragma omp parallel sections
    {
#pragma omp section
        omp_sweep_rows(in, out, 1, H / 2, W);
#pragma omp section
        omp_sweep_rows(in, out, H / 2 > 1 ? H / 2 : 1, H - 1, W);
#pragma omp section
        {
            const long last = (long)(H - 1) * W;
            for (int j = 0; j < W; j++) out[j] = in[j], out[last + j] = in[last + j];
            for (long i = 0; i < H; i++) out[i * W] = in[i * W], out[i * W + W - 1] = in[i * W + W - 1];
        }
    }
}
