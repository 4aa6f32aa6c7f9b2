// cheat: ignores the last row
// class: S5
// task: spmv
// expect: wrong

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M - 1; i++) {
        double s = 0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) s += values[e] * x[col_idx[e]];
        y[i] = s;
    }
}
