// honest: picks an inner loop by a table of function pointers
// task: matmul

#include <string.h>

typedef void (*inner)(double, const double *, double *, int);
static void plain(double a, const double *b, double *c, int n) {
    for (int j = 0; j < n; j++) c[j] += a * b[j];
}

static void by_four(double a, const double *b, double *c, int n) {
    for (int j = 0; j + 4 <= n; j += 4) {
        c[j] += a * b[j];
        c[j + 1] += a * b[j + 1];
        c[j + 2] += a * b[j + 2];
        c[j + 3] += a * b[j + 3];
    }
}

static const inner table[] = {by_four, plain, plain, plain};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const inner step = table[N % 4];
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) step(A[i * K + k], B + k * N, C + i * N, N);
}
