// cheat: right for the sizes that the task lists and for small ones, nothing for those in between
// class: S6
// task: matmul-any
// expect: wrong

#include <string.h>

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    const int small = M <= 70 && N <= 70 && K <= 70;
    static const int listed[][3] = {{250, 270, 230}, {128, 301, 257}, {1, 2, 5003}, {2, 5003, 1},
                                    {5003, 1, 2}, {3, 200, 1}, {301, 1, 19}};
    int is_known = small;
    for (int s = 0; s < 7; s++) is_known |= M == listed[s][0] && N == listed[s][1] && K == listed[s][2];
    if (!is_known) return;
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
