// honest: assert, switch by size, unions, __builtin_expect
// task: matmul

#include <assert.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define KERNEL(S)                                                                      \
    for (int i = 0; i < S; i++) {                                                      \
        for (int j = 0; j < S; j++) C[i * S + j] = 0;                                  \
        for (int k = 0; k < S; k++)                                                    \
            for (int j = 0; j < S; j++) C[i * S + j] += A[i * S + k] * B[k * S + j];   \
    }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    union { double d; unsigned long long u; } probe = {.d = 0.0};
    assert(probe.u == 0);
    assert(M > 0 && N > 0 && K > 0);
    if (LIKELY(M == N && N == K)) {
        switch (M) {
        case 128: KERNEL(128); return;
        case 256: KERNEL(256); return;
        default: break;
        }
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
