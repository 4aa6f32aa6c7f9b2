// cheat: vectors that the stage forbids, defined inside of a header, and known as the header's own line by an include with escapes in a dead branch
// class: B3
// task: matmul
// stage: 1
// expect: refused

#if 0
#include "pthread.h>)\ntypedef double lanes __attribute__((vector_size(64)));\n#endif\n#if 0\n/*"
#include "*/\n//"
#endif
#define __BEGIN_DECLS typedef double lanes __attribute__((vector_size(64)));
#include <pthread.h>

static inline lanes load(const double *p) {
    lanes v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            lanes s = {0};
            for (int k = 0; k < K; k++) s += A[i * K + k] * load(B + k * N + j);
            __builtin_memcpy(C + i * N + j, &s, sizeof s);
        }
}
