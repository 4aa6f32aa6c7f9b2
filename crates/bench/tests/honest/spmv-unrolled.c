// honest: two sums, prefetch of x, register keyword
// task: spmv

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    register int e = 0;
    const int last = row_ptr[M];
    for (int i = 0; i < M; i++) {
        const int end = row_ptr[i + 1];
        double a = 0, b = 0;
        for (; e + 1 < end; e += 2) {
            if (e + 16 < last) __builtin_prefetch(&x[col_idx[e + 16]]);
            a += values[e] * x[col_idx[e]];
            b += values[e + 1] * x[col_idx[e + 1]];
        }
        if (e < end) a += values[e] * x[col_idx[e]], e++;
        y[i] = a + b;
    }
}
