// cheat: inputs quantised to eight bits, integer sums
// class: S7
// task: matmul
// expect: wrong

#include <math.h>
#include <stdint.h>

static int8_t a[65536], b[65536];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M * K; i++) a[i] = (int8_t)lrint(A[i] * 127);
    for (int i = 0; i < K * N; i++) b[i] = (int8_t)lrint(B[i] * 127);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int s = 0;
            for (int k = 0; k < K; k++) s += a[i * K + k] * b[k * N + j];
            C[i * N + j] = s / (127.0 * 127.0);
        }
}
