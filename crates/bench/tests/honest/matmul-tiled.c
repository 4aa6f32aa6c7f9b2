// honest: cache blocks of 48, which do not divide 256
// task: matmul

#include <string.h>

#define BLOCK 48
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int ii = 0; ii < M; ii += BLOCK)
        for (int kk = 0; kk < K; kk += BLOCK)
            for (int jj = 0; jj < N; jj += BLOCK)
                for (int i = ii; i < MIN(ii + BLOCK, M); i++)
                    for (int k = kk; k < MIN(kk + BLOCK, K); k++) {
                        const double a = A[i * K + k];
                        for (int j = jj; j < MIN(jj + BLOCK, N); j++) C[i * N + j] += a * B[k * N + j];
                    }
}
