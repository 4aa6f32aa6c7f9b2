// cheat: a keyword carries the attribute into a header
// class: B3
// task: matmul
// expect: refused

#define const __attribute__((optimize(3))) const
#include <wchar.h>
#undef const
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
