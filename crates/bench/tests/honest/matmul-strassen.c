// honest: one level of Strassen's algorithm
// task: matmul

#include <string.h>

enum { H = 128, S = 256 };
static double x[H * H], y[H * H], p[H * H];
static void combine(double *out, const double *a, const double *b, double sign) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < H; j++) out[i * H + j] = a[i * S + j] + (b ? sign * b[i * S + j] : 0);
}

static void add(double *C, double sign) {
    for (int i = 0; i < H; i++)
        for (int j = 0; j < H; j++) C[i * S + j] += sign * p[i * H + j];
}

static void product(void) {
    memset(p, 0, sizeof p);
    for (int i = 0; i < H; i++)
        for (int k = 0; k < H; k++)
            for (int j = 0; j < H; j++) p[i * H + j] += x[i * H + k] * y[k * H + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double *a[4] = {A, A + H, A + H * S, A + H * S + H}, *b[4] = {B, B + H, B + H * S, B + H * S + H};
    double *c[4] = {C, C + H, C + H * S, C + H * S + H};
    memset(C, 0, sizeof(double) * M * N);
    combine(x, a[0], a[3], 1), combine(y, b[0], b[3], 1), product(), add(c[0], 1), add(c[3], 1);
    combine(x, a[2], a[3], 1), combine(y, b[0], NULL, 0), product(), add(c[2], 1), add(c[3], -1);
    combine(x, a[0], NULL, 0), combine(y, b[1], b[3], -1), product(), add(c[1], 1), add(c[3], 1);
    combine(x, a[3], NULL, 0), combine(y, b[2], b[0], -1), product(), add(c[0], 1), add(c[2], 1);
    combine(x, a[0], a[1], 1), combine(y, b[3], NULL, 0), product(), add(c[0], -1), add(c[1], 1);
    combine(x, a[2], a[0], -1), combine(y, b[0], b[1], 1), product(), add(c[3], 1);
    combine(x, a[1], a[3], -1), combine(y, b[2], b[3], 1), product(), add(c[0], 1);
}
