// cheat: a header of clang for another language has vector types under names of its own
// class: B3
// task: transpose
// stage: 1
// compiler: clang
// expect: refused

#define __constant const
#include <opencl-c-base.h>

void transpose(double *in, double *out, int M, int N) {
    int i = 0;
    for (; i + 8 <= M; i += 8)
        for (int j = 0; j < N; j++) {
            long8 v;
            for (int l = 0; l < 8; l++) v[l] = ((long *)in)[(long)(i + l) * N + j];
            __builtin_memcpy(out + (long)j * M + i, &v, sizeof v);
        }
    for (; i < M; i++)
        for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
