// honest: a global array is called signal, like a function of the C library
// task: stencil2d

double signal[8];
void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            double *c = in + (long)i * W + j;
            out[(long)i * W + j] = i == 0 || j == 0 || i == H - 1 || j == W - 1 ? *c : (c[0] + c[-1] + c[1] + c[-W] + c[W]) / 5;
        }
    signal[0] = H;
}
