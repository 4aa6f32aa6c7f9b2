// honest: short rows by a switch that falls through
// task: spmv
// stage: 1

#define ADD(n) sum += v[n] * x[c[n]];

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    for (int i = 0; i < M; i++) {
        const int *c = col_idx + row_ptr[i];
        const double *v = values + row_ptr[i];
        int left = row_ptr[i + 1] - row_ptr[i];
        double sum = 0;
        for (; left >= 4; left -= 4, c += 4, v += 4) { ADD(0) ADD(1) ADD(2) ADD(3) }
        switch (left) {
        case 3: ADD(2) __attribute__((fallthrough));
        case 2: ADD(1) // fall through
        case 1: ADD(0)
        default:;
        }
        y[i] = sum;
    }
}
