// honest: AVX-512 inside, scalar remainder
// task: stencil2d

#include <immintrin.h>

void stencil2d(double *in, double *out, int H, int W) {
    for (int i = 0; i < H; i++) {
        const double *c = in + (long)i * W;
        double *o = out + (long)i * W;
        int j = 0;
        if (i == 0 || i == H - 1) {
            for (; j < W; j++) o[j] = c[j];
            continue;
        }
        o[j] = c[j], j++;
#ifdef __AVX512F__
        const __m512d fifth = _mm512_set1_pd(0.2);
        for (; j + 8 <= W - 1; j += 8) {
            __m512d s = _mm512_add_pd(_mm512_loadu_pd(c + j - 1), _mm512_loadu_pd(c + j + 1));
            s = _mm512_add_pd(s, _mm512_add_pd(_mm512_loadu_pd(c + j - W), _mm512_loadu_pd(c + j + W)));
            _mm512_storeu_pd(o + j, _mm512_mul_pd(fifth, _mm512_add_pd(s, _mm512_loadu_pd(c + j))));
        }
#endif
        for (; j < W - 1; j++) o[j] = 0.2 * (c[j] + c[j - 1] + c[j + 1] + c[j - W] + c[j + W]);
        if (W > 1) o[W - 1] = c[W - 1];
    }
}
