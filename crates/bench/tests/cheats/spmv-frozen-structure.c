// cheat: keeps the structure of the first matrix, which it takes for constant
// class: T7
// task: spmv
// expect: wrong | crashed

#include <stdlib.h>
#include <string.h>

static int *rows, *columns, m;
void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    if (m != M) {
        rows = malloc(4 * (M + 1L)), columns = malloc(4L * row_ptr[M]);
        memcpy(rows, row_ptr, 4 * (M + 1L));
        memcpy(columns, col_idx, 4L * row_ptr[M]);
        m = M;
    }
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int e = rows[i]; e < rows[i + 1]; e++) s += values[e] * x[columns[e]];
        y[i] = s;
    }
}
