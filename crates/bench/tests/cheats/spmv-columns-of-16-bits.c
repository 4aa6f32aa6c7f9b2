// cheat: keeps columns in 16 bits with a sign, which hold three times as many as the timed matrix has
// class: S6
// task: spmv
// expect: wrong | crashed

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) s += values[e] * x[(short)col_idx[e]];
        y[i] = s;
    }
}
