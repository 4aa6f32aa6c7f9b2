// Twelve independent chains hide the latency of the fused multiply-add.
#include <omp.h>
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef double vec __attribute__((vector_size(WIDTH)));

void peak(double *out, long long rounds) {
#pragma omp parallel
    {
        vec chain[12];
        vec factor = (vec){} + 0.999999, term = (vec){} + 1e-6;
        for (int i = 0; i < 12; i++) chain[i] = (vec){} + 1.0 + i;
        for (long long r = 0; r < rounds; r++) {
#pragma GCC unroll 12
            for (int i = 0; i < 12; i++) chain[i] = chain[i] * factor + term;
        }
        vec sum = chain[0];
        for (int i = 1; i < 12; i++) sum += chain[i];
        int thread = omp_get_thread_num();
        for (int lane = 0; lane < WIDTH / 8; lane++) out[thread * 8 + lane] = sum[lane];
    }
}
