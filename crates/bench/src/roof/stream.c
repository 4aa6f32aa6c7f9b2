#include <omp.h>
typedef double vec __attribute__((vector_size(64), aligned(8)));

void stream(double *in, double *out, long long n) {
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        long long begin = n * thread / threads, end = n * (thread + 1) / threads, i = begin;
        vec sum[4] = {{0}, {0}, {0}, {0}};
        for (; i + 32 <= end; i += 32)
            for (int part = 0; part < 4; part++) sum[part] += *(const vec *)(in + i + 8 * part);
        double rest = 0;
        for (; i < end; i++) rest += in[i];
        vec all = sum[0] + sum[1] + sum[2] + sum[3];
        for (int lane = 0; lane < 8; lane++) out[thread * 8 + lane] = all[lane] + rest;
    }
}
