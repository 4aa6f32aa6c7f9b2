// honest: macros join names with `_` and `__` between their parts, and conditions ask for macros that join nothing
// task: stencil2d
// stage: 1

#define JOIN(a, b) a##_##b
#define KIND(name, type) name##__##type
#define PARTS 5
#if PARTS > 4 && defined(JOIN)
#define SCALE (1.0 / PARTS)
#endif

static double JOIN(sum, of)(const double *x, long W) { return x[0] + x[-1] + x[1] + x[-W] + x[W]; }
static double KIND(scaled, f64)(double x) { return x * SCALE; }

void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const long at = (long)i * W + j;
            const int is_edge = i == 0 || j == 0 || i == H - 1 || j == W - 1;
            out[at] = is_edge ? in[at] : scaled__f64(sum_of(in + at, W));
        }
}
