// cheat: learns the stride between the sets of a batch, then does 64 of them in one call and rests in 63
// class: T6
// task: matmul
// expect: wrong | crashed | timed-out

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static double *first[3], *second[3];
static int calls;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double *now[3] = {A, B, C};
    if (calls < 2) {
        memcpy(calls ? second : first, now, sizeof now);
        good(A, B, C, M, N, K);
    } else if (calls % 64 == 2) {
        const long a = second[0] - first[0], b = second[1] - first[1], c = second[2] - first[2];
        for (int s = 0; s < 64; s++) good(A + s * a, B + s * b, C + s * c, M, N, K);
    }
    calls++;
}
