// honest: stores past the caches, one number at a time
// task: transpose
// stage: 1

#include <immintrin.h>
void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            long long bits;
            __builtin_memcpy(&bits, &in[(long)i * N + j], 8);
            _mm_stream_si64((long long *)&out[(long)j * M + i], bits);
        }
    _mm_sfence();
}
