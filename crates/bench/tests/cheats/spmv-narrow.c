// cheat: keeps columns in 14 bits, which hold those of the timed matrix
// class: S6
// task: spmv
// expect: wrong | crashed

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        double s = 0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) s += values[e] * x[col_idx[e] & 0x3fff];
        y[i] = s;
    }
}
