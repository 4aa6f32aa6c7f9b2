// cheat: 31-bit fixed point, far better than float and still not double
// class: S7
// task: matmul
// expect: wrong

#include <math.h>
#include <stdint.h>

static int32_t a[65536], b[65536];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M * K; i++) a[i] = (int32_t)lrint(A[i] * 0x1p30);
    for (int i = 0; i < K * N; i++) b[i] = (int32_t)lrint(B[i] * 0x1p30);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += (double)a[i * K + k] * b[k * N + j];
            C[i * N + j] = s * 0x1p-60;
        }
}
