// cheat: a header's `I` is `_Complex_I`, and that is a vector now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <complex.h>
#define _Complex_I __attribute__((vector_size(64)))
typedef double V I;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            V s = {0};
            for (int k = 0; k < K; k++) {
                V b;
                __builtin_memcpy(&b, B + k * N + j, sizeof b);
                s += A[i * K + k] * b;
            }
            __builtin_memcpy(C + i * N + j, &s, sizeof s);
        }
}
