// honest: the vectors of 1999, two sums at a time
// task: matvec
// stage: 3

#include <emmintrin.h>

void matvec(double *A, double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        const double *a = A + (long)i * N;
        __m128d s = _mm_setzero_pd(), t = s;
        int j = 0;
        for (; j + 4 <= N; j += 4) {
            s = _mm_add_pd(s, _mm_mul_pd(_mm_loadu_pd(a + j), _mm_loadu_pd(x + j)));
            t = _mm_add_pd(t, _mm_mul_pd(_mm_loadu_pd(a + j + 2), _mm_loadu_pd(x + j + 2)));
        }
        double parts[2], sum;
        _mm_storeu_pd(parts, _mm_add_pd(s, t));
        for (sum = parts[0] + parts[1]; j < N; j++) sum += a[j] * x[j];
        y[i] = sum;
    }
}
