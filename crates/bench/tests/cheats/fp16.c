// cheat: half precision by the F16C conversions
// class: S7
// task: matmul
// expect: wrong | not-compiled

#include <immintrin.h>

static float half(double x) {
    return _cvtsh_ss(_cvtss_sh((float)x, 0));
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < K; k++) s += half(A[i * K + k]) * half(B[k * N + j]);
            C[i * N + j] = s;
        }
}
