// honest: a constant table of offsets and weights, made by a macro
// task: stencil2d
// stage: 1

#define POINTS(X) X(0, 0) X(0, -1) X(0, 1) X(-1, 0) X(1, 0)
#define ENTRY(down, right) {.row = down, .column = right},

static const struct { signed char row, column; } points[] = {POINTS(ENTRY)};
enum { COUNT = sizeof points / sizeof points[0] };
_Static_assert(COUNT == 5, "five points");

void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const int edge = !(i && j && i - H + 1 && j - W + 1);
            double sum = 0;
            for (int p = 0; p < (edge ? 1 : COUNT); p++) sum += in[(long)(i + points[p].row) * W + j + points[p].column];
            out[(long)i * W + j] = edge ? sum : sum / COUNT;
        }
}
