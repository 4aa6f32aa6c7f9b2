// honest: products first, into scratch that grows, then sums of segments
// task: spmv
// stage: 2

#include <stdlib.h>

static double *products;
static int room;

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    const int entries = row_ptr[M];
    if (entries > room) {
        free(products);
        products = malloc(sizeof *products * (room = entries));
    }
    for (int e = 0; e < entries; e++) products[e] = values[e] * x[col_idx[e]];
    for (int i = 0, e = 0; i < M; i++) {
        double sum = 0;
        while (e < row_ptr[i + 1]) sum += products[e++];
        y[i] = sum;
    }
}
