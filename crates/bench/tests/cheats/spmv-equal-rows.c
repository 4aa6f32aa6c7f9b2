// cheat: takes all rows for equally long
// class: S6
// task: spmv
// expect: wrong | crashed

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    const int n = row_ptr[M] / M;
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int e = i * n; e < (i + 1) * n; e++) s += values[e] * x[col_idx[e]];
        y[i] = s;
    }
}
