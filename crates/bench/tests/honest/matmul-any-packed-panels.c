// honest: panels packed into malloc'd scratch with zeros behind the edge
// task: matmul-any

#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 8 };

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    double *panel = malloc(sizeof(double) * K * COLUMNS);
    for (int j = 0; j < N; j += COLUMNS) {
        const int width = N - j < COLUMNS ? N - j : COLUMNS;
        memset(panel, 0, sizeof(double) * K * COLUMNS);
        for (int k = 0; k < K; k++) memcpy(panel + k * COLUMNS, B + (long)k * N + j, sizeof(double) * width);
        for (int i = 0; i < M; i += ROWS) {
            const int height = M - i < ROWS ? M - i : ROWS;
            double sums[ROWS][COLUMNS] = {{0}};
            for (int k = 0; k < K; k++)
                for (int r = 0; r < height; r++)
                    for (int c = 0; c < COLUMNS; c++) sums[r][c] += A[(long)(i + r) * K + k] * panel[k * COLUMNS + c];
            for (int r = 0; r < height; r++) memcpy(C + (long)(i + r) * N + j, sums[r], sizeof(double) * width);
        }
    }
    free(panel);
}
