// honest: rows in parallel with a dynamic schedule
// task: spmv
// threads: 2

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
#pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * x[col_idx[e]];
        y[i] = sum;
    }
}
