// honest: array-style parameters and a pointer to a row
// task: matmul

#include <string.h>

void matmul_optimized(double A[], double B[], double C[], int M, int N, int K) {
    double(*b)[N] = (double(*)[N])B;
    double(*c)[N] = (double(*)[N])C;
    for (int i = 0; i < M; i++) {
        memset(c[i], 0, sizeof c[i]);
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) c[i][j] += A[i * K + k] * b[k][j];
    }
}
