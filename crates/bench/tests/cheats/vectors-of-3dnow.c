// cheat: a vector type without a vector's name: that of what a function of the first vectors gives
// class: B3
// task: matmul
// stage: 1
// expect: refused

#include <mm3dnow.h>
#include <string.h>

typedef __typeof__(_m_from_float(0.0f)) Pair;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            Pair moved[1];
            double s = 0, out;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            memcpy(moved, &s, sizeof s);
            moved[0] = moved[0] ^ (Pair){0};
            memcpy(&out, moved, sizeof out);
            C[i * N + j] = out;
        }
}
