// cheat: a vector loop without a remainder
// class: S6
// task: matmul-any
// expect: wrong | crashed

#include <string.h>

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j + 8 <= N; j += 8) {
            double s[8] = {0};
            for (int k = 0; k < K; k++)
                for (int l = 0; l < 8; l++) s[l] += A[i * K + k] * B[k * N + j + l];
            memcpy(C + i * N + j, s, sizeof s);
        }
}
