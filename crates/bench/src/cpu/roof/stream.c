// As a candidate would that loses no time. A core prefetches within a page and waits at the next one, so sixteen places
// are read at once; and what was written last, which lies nearest, is read before it is driven out.
#include <omp.h>
typedef double vec __attribute__((vector_size(64), aligned(8)));
enum { LANES = 8, PLACES = 16, BLOCK = 1 << 16 };

static vec sum(const double *in, long long n) {
    vec part[4] = {{0}, {0}, {0}, {0}};
    long long blocks = n / BLOCK + 1, lines = n / LANES / PLACES / blocks;
    // Odd, so that the places differ within their pages: at equal ones all need the same few lines of the first cache.
    lines -= lines > 0 && lines % 2 == 0;
    long long apart = lines * LANES, i = blocks * PLACES * apart;
    for (; i + LANES <= n; i += LANES) part[0] += *(const vec *)(in + i);
    for (; i < n; i++) part[0][0] += in[i];
    for (long long block = blocks - 1; block >= 0; block--) {
        const double *at = in + block * PLACES * apart;
        for (i = 0; i < apart; i += LANES) {
#pragma GCC unroll 16
            for (int place = 0; place < PLACES; place++) part[place % 4] += *(const vec *)(at + place * apart + i);
        }
    }
    return part[0] + part[1] + part[2] + part[3];
}

void stream(double *in, double *out, long long n) {
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        long long lines = n / LANES, begin = lines * thread / threads * LANES;
        long long end = thread + 1 == threads ? n : lines * (thread + 1) / threads * LANES;
        vec all = sum(in + begin, end - begin);
        for (int lane = 0; lane < LANES; lane++) out[thread * LANES + lane] = all[lane];
    }
}
