// C = A B, row-major. A product's scale is the sum of its terms' magnitudes.

#include <math.h>
#include <stdlib.h>

// Eight lanes: one, two or four machine vectors, as the compiler has them.
typedef double lanes __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long bits __attribute__((vector_size(64), aligned(8), may_alias));

static double dot(const double *a, const double *b, long n) {
    lanes s0 = {0}, s1 = {0};
    long i = 0;
    for (; i + 16 <= n; i += 16) {
        s0 += *(const lanes *)(a + i) * *(const lanes *)(b + i);
        s1 += *(const lanes *)(a + i + 8) * *(const lanes *)(b + i + 8);
    }
    s0 += s1;
    double sum = 0;
    for (int l = 0; l < 8; l++) sum += s0[l];
    for (; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Sum of a u, and sum of |a| v into `absolute`.
static double both_dots(const double *a, const double *u, const double *v, long n, double *absolute) {
    lanes s0 = {0}, s1 = {0}, t0 = {0}, t1 = {0};
    const bits mask = (bits){0} + 0x7fffffffffffffffLL;
    long i = 0;
    for (; i + 16 <= n; i += 16) {
        const lanes a0 = *(const lanes *)(a + i), a1 = *(const lanes *)(a + i + 8);
        s0 += a0 * *(const lanes *)(u + i);
        s1 += a1 * *(const lanes *)(u + i + 8);
        t0 += (lanes)((bits)a0 & mask) * *(const lanes *)(v + i);
        t1 += (lanes)((bits)a1 & mask) * *(const lanes *)(v + i + 8);
    }
    s0 += s1, t0 += t1;
    double s = 0, t = 0;
    for (int l = 0; l < 8; l++) s += s0[l], t += t0[l];
    for (; i < n; i++) s += a[i] * u[i], t += fabs(a[i]) * v[i];
    *absolute = t;
    return s;
}

void reference(const double *A, const double *B, double *C, double *C_scale, int M, int N, int K) {
    for (long i = 0; i < M; i++) {
        const double *a = A + i * K;
        long j = 0;
        for (; j + 4 <= N; j += 4) {
            long double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (long k = 0; k < K; k++) {
                const long double t = a[k];
                const double *b = B + k * N + j;
                s0 += t * b[0], s1 += t * b[1], s2 += t * b[2], s3 += t * b[3];
            }
            C[i * N + j] = s0, C[i * N + j + 1] = s1, C[i * N + j + 2] = s2, C[i * N + j + 3] = s3;
        }
        for (; j < N; j++) {
            long double s = 0;
            for (long k = 0; k < K; k++) s += (long double)a[k] * B[k * N + j];
            C[i * N + j] = s;
        }
        double *scale = C_scale + i * N;
        for (j = 0; j < N; j++) scale[j] = 0;
        for (long k = 0; k < K; k++) {
            const double t = fabs(a[k]), *b = B + k * N;
            for (j = 0; j < N; j++) scale[j] += t * fabs(b[j]);
        }
    }
}

// Freivalds: the largest |(C x - A (B x))_i| / (|A| |B| |x|)_i. It sees every element of C.
double check(const double *A, const double *B, const double *C, int M, int N, int K, const double *x) {
    double *Bx = malloc((2 * (size_t)K + N) * sizeof(double));
    if (!Bx) return INFINITY;
    double *bound = Bx + K, *absolute_x = bound + K;
    for (long j = 0; j < N; j++) absolute_x[j] = fabs(x[j]);
    for (long k = 0; k < K; k++) Bx[k] = both_dots(B + k * N, x, absolute_x, N, bound + k);
    double worst = 0;
    for (long i = 0; i < M; i++) {
        double scale;
        const double ABx = both_dots(A + i * K, Bx, bound, K, &scale);
        const double error = fabs(dot(C + i * N, x, N) - ABx);
        const double e = error == 0 ? 0 : error / scale;
        if (!(e <= worst)) worst = e;
        if (!(worst <= 1e300)) { // NaN and infinity
            worst = INFINITY;
            break;
        }
    }
    free(Bx);
    return worst;
}

double point(const double *A, const double *B, const double *C, int M, int N, int K, long index) {
    (void)C, (void)M;
    const long i = index / N, j = index % N;
    long double sum = 0;
    for (long k = 0; k < K; k++) sum += (long double)A[i * K + k] * B[k * N + j];
    return sum;
}
