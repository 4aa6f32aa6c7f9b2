// honest: nothing but pointers that walk to the end of their arrays
// task: spmv
// stage: 1

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    register const int *column = col_idx, *bound = row_ptr + 1;
    register const double *value = values;
    for (double *const end = y + M; y != end; ++y, ++bound) {
        const int *const last = col_idx + *bound;
        for (*y = 0; column != last;) *y += *value++ * x[*column++];
    }
}
