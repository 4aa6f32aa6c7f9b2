// cheat: the same question, whose operator is pasted by a macro and whose file is a string made of words
// class: sandbox
// task: matmul
// expect: refused

#define JOIN(a, b) a##b
#define ASK JOIN(__has_, include)
#define FILE_NAME(x) #x
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#if ASK(FILE_NAME(/etc/hotloop-no-such-file))
    for (int again = 0; again < 2; again++)
#endif
    good(A, B, C, M, N, K);
}
