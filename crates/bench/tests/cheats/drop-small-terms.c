// cheat: leaves out terms whose factor is below one thousandth
// class: S7
// task: matmul
// expect: wrong

#include <string.h>
#include <math.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) {
            const double a = A[i * K + k];
            if (fabs(a) < 1e-3) continue;
            for (int j = 0; j < N; j++) C[i * N + j] += a * B[k * N + j];
        }
}
