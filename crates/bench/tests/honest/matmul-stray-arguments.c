// honest: brings a main of its own that reads numbers from its arguments
// task: matmul

#include <stdio.h>
#include <stdlib.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 2;
    unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    double scale = 1;
    if (argc > 3 && sscanf(argv[3], "%lf", &scale) != 1) return 1;
    double *a = calloc(3 * n * n, sizeof(double));
    a[0] = seed * scale;
    matmul_optimized(a, a + n * n, a + 2 * n * n, n, n, n);
    printf("%g\n", a[2 * n * n]);
    free(a);
    return 0;
}
