// honest: eight columns at a time through a small buffer and memcpy
// task: transpose
// stage: 2

#include <string.h>

void transpose(double *in, double *out, int M, int N) {
    double line[8];
    for (int i = 0; i < M; i += 8) {
        const int count = M - i < 8 ? M - i : 8;
        for (int j = 0; j < N; j++) {
            for (int r = 0; r < count; r++) line[r] = in[(long)(i + r) * N + j];
            memcpy(out + (long)j * M + i, line, sizeof *line * count);
        }
    }
}
