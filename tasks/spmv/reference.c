// y = A x; row i holds the entries row_ptr[i] to row_ptr[i + 1] - 1.
// The scale is the sum of the terms' magnitudes: 0 for an empty row, which must be zero.

#include <math.h>

void reference(const int *row_ptr, const int *col_idx, const double *values, const double *x, double *y, double *y_scale, int M) {
    for (long i = 0; i < M; i++) {
        long double sum = 0;
        double scale = 0;
        for (long e = row_ptr[i]; e < row_ptr[i + 1]; e++) {
            sum += (long double)values[e] * x[col_idx[e]];
            scale += fabs(values[e] * x[col_idx[e]]);
        }
        y[i] = sum;
        y_scale[i] = scale;
    }
}

double point(const int *row_ptr, const int *col_idx, const double *values, const double *x, const double *y, int M, long index) {
    (void)y, (void)M;
    long double sum = 0;
    for (long e = row_ptr[index]; e < row_ptr[index + 1]; e++) sum += (long double)values[e] * x[col_idx[e]];
    return sum;
}
