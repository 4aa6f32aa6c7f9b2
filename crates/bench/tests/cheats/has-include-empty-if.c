// cheat: a branch that is never taken asks for a file; a name stands for the operator
// class: sandbox
// task: matmul
// expect: refused

#define ASK __has_include
#define WHERE "/proc/self/no-such-file"
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

#if 0
#elif ASK(WHERE)
#define M_OTHER 1
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) { good(A, B, C, M, N, K); }
