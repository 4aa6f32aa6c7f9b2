// honest: asks early for the elements of x, where the stage allows it
// task: spmv
// stage: 5

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    const int last = row_ptr[M] - 1;
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) {
            __builtin_prefetch(&x[col_idx[e + 16 < last ? e + 16 : last]], 0, 1);
            sum += values[e] * x[col_idx[e]];
        }
        y[i] = sum;
    }
}
