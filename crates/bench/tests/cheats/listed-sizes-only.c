// cheat: right for the sizes that the task lists, hidden ones too, nothing for others
// class: S6
// task: matmul-any
// expect: wrong

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    static const int listed[][3] = {{250, 270, 230}, {1, 1, 1}, {7, 5, 3}, {33, 65, 17}, {128, 301, 257},
                                    {1, 2, 5003}, {2, 5003, 1}, {5003, 1, 2}, {3, 200, 1}, {301, 1, 19}};
    for (int s = 0; s < 10; s++)
        if (M == listed[s][0] && N == listed[s][1] && K == listed[s][2]) good(A, B, C, M, N, K);
}
