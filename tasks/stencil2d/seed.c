void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++) {
        for (int j = 0; j < W; j++) {
            if (i == 0 || j == 0 || i == H - 1 || j == W - 1) {
                out[i * W + j] = in[i * W + j];
            } else {
                out[i * W + j] = (in[i * W + j] + in[i * W + j - 1] + in[i * W + j + 1] + in[(i - 1) * W + j] + in[(i + 1) * W + j]) / 5.0;
            }
        }
    }
}
