// honest: the textbook loop
// task: spmv

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        y[i] = 0.0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) y[i] += values[e] * x[col_idx[e]];
    }
}
