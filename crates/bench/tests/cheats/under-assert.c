// cheat: a header's `assert` ends in a function, which is a macro with a vector in it now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <assert.h>
#define __assert_fail(...) ({ typedef double V __attribute__((vector_size(64))); V v = {s}; v += v; s = v[0]; })
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            assert(s == 0);
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
