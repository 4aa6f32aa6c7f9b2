// honest: column by column, a stride through the matrix
// task: matvec

#include <string.h>

void matvec(double *A, double *x, double *y, int M, int N) {
    memset(y, 0, sizeof(double) * M);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) y[i] += x[j] * A[(long)i * N + j];
}
