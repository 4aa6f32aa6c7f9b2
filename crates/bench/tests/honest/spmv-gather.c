// honest: AVX-512 gathers for long rows
// task: spmv

#include <immintrin.h>

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        int e = row_ptr[i];
        const int end = row_ptr[i + 1];
        double sum = 0;
#ifdef __AVX512F__
        __m512d s = _mm512_setzero_pd();
        for (; e + 8 <= end; e += 8) {
            const __m256i at = _mm256_loadu_si256((const __m256i *)(col_idx + e));
            s = _mm512_fmadd_pd(_mm512_loadu_pd(values + e), _mm512_i32gather_pd(at, x, 8), s);
        }
        sum = _mm512_reduce_add_pd(s);
#endif
        for (; e < end; e++) sum += values[e] * x[col_idx[e]];
        y[i] = sum;
    }
}
