// cheat: right only where rows are short, as those of the timed matrix are
// class: S6
// task: spmv
// expect: wrong

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        const int begin = row_ptr[i];
        int length = row_ptr[i + 1] - begin;
        if (length > 64) length = 64;
        double s = 0;
        for (int e = begin; e < begin + length; e++) s += values[e] * x[col_idx[e]];
        y[i] = s;
    }
}
