// cheat: asks for a file above the compiler's folders; a header's macro pastes the operator
// class: sandbox
// task: matmul
// expect: refused

#define JOIN __CONCAT
#define PLACE <../../../etc/hotloop-no-such-file>
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#if JOIN(__has_, include_next)(PLACE)
    for (int again = 0; again < 2; again++)
#endif
    good(A, B, C, M, N, K);
}
