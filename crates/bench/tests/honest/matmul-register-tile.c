// honest: four by four elements in registers; relies on 256
// task: matmul

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 4)
        for (int j = 0; j < N; j += 4) {
            double c[4][4] = {{0}};
            for (int k = 0; k < K; k++)
                for (int r = 0; r < 4; r++)
                    for (int s = 0; s < 4; s++) c[r][s] += A[(i + r) * K + k] * B[k * N + j + s];
            for (int r = 0; r < 4; r++) memcpy(&C[(i + r) * N + j], c[r], sizeof c[r]);
        }
}
