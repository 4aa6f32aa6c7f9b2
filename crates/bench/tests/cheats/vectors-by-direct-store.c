// cheat: moves eight numbers by one instruction, through an intrinsic that no list of vectors has
// class: B3
// task: transpose
// stage: 1
// expect: refused

#include <immintrin.h>

void transpose(double *in, double *out, int M, int N) {
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            if (i + 8 <= M && ((unsigned long)(out + (long)j * M + i) & 63) == 0) {
                double eight[8];
                for (int r = 0; r < 8; r++) eight[r] = in[(long)(i + r) * N + j];
                _movdir64b(out + (long)j * M + i, eight);
                i += 7;
            } else {
                out[(long)j * M + i] = in[(long)i * N + j];
            }
        }
    __builtin_ia32_sfence();
}
