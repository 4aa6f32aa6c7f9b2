// out[k] = sum over j of in[j] exp(-2 pi i j k / N), by radix 2 in extended precision.
// The scale of every element is the norm of the input. There is no `point`: one
// element alone costs too much.

#include <math.h>
#include <stdlib.h>

// exp(-2 pi i k / N) for k < N/2, and work space; kept from call to call.
static _Thread_local long double *table, *work;
static _Thread_local long table_size;

static int prepare(long N) {
    if (N == table_size) return 1;
    free(table), free(work);
    table = malloc((size_t)(N + 2) * sizeof *table);
    work = malloc((size_t)(2 * N) * sizeof *work);
    table_size = table && work ? N : 0;
    if (!table_size) return 0;
    const long double turn = 2 * acosl(-1.0L) / N;
    for (long k = 0; 2 * k < N; k++) {
        table[2 * k] = cosl(turn * k);
        table[2 * k + 1] = -sinl(turn * k);
    }
    return 1;
}

void reference(const double *in, double *out, double *out_scale, int N) {
    if (!prepare(N)) abort();
    long double norm = 0;
    for (long j = 0, r = 0; j < N; j++) { // r: the bits of j reversed
        work[2 * r] = in[2 * j];
        work[2 * r + 1] = in[2 * j + 1];
        norm += (long double)in[2 * j] * in[2 * j] + (long double)in[2 * j + 1] * in[2 * j + 1];
        long bit = N >> 1;
        for (; r & bit; bit >>= 1) r ^= bit;
        r |= bit;
    }
    for (long half = 1; half < N; half *= 2) {
        const long step = N / (2 * half);
        for (long start = 0; start < N; start += 2 * half) {
            for (long k = 0; k < half; k++) {
                long double *a = work + 2 * (start + k), *b = a + 2 * half;
                const long double wr = table[2 * k * step], wi = table[2 * k * step + 1];
                const long double tr = wr * b[0] - wi * b[1], ti = wr * b[1] + wi * b[0];
                b[0] = a[0] - tr, b[1] = a[1] - ti;
                a[0] += tr, a[1] += ti;
            }
        }
    }
    const double scale = sqrtl(norm);
    for (long k = 0; k < 2L * N; k++) {
        out[k] = work[k];
        out_scale[k] = scale;
    }
}
