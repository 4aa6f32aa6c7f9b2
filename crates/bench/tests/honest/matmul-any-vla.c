// honest: variable-length arrays on the stack and alloca
// task: matmul-any

#include <string.h>

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    double row[N];
    double *copy = __builtin_alloca(sizeof(double) * K);
    for (int i = 0; i < M; i++) {
        memcpy(copy, A + (long)i * K, sizeof(double) * K);
        for (int j = 0; j < N; j++) row[j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) row[j] += copy[k] * B[(long)k * N + j];
        memcpy(C + (long)i * N, row, sizeof row);
    }
}
