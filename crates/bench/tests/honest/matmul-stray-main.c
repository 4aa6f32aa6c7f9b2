// honest: brings a main of its own
// task: matmul

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}

int main(void) {
    static double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4];
    matmul_optimized(a, b, c, 2, 2, 2);
    printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    return 0;
}
