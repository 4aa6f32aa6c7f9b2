// cheat: a plain name beside the attribute that a header is made to say
// class: B3
// task: matmul
// expect: refused

static double optimize;
#define const __attribute__((optimize(3))) const
#include <wchar.h>
#undef const
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = optimize;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
