// honest: threads share the entries, not the rows; each finds its first row by bisection
// task: spmv
// threads: 2

#include <omp.h>

static int row_of(const int *row_ptr, int M, int entry) {
    int low = 0, high = M;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (row_ptr[mid] < entry) low = mid + 1;
        else high = mid;
    }
    return low;
}

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
#pragma omp parallel
    {
        const long t = omp_get_thread_num(), team = omp_get_num_threads(), all = row_ptr[M];
        const int from = t == 0 ? 0 : row_of(row_ptr, M, (int)(all * t / team));
        const int to = t + 1 == team ? M : row_of(row_ptr, M, (int)(all * (t + 1) / team));
        for (int i = from; i < to; i++) {
            double sum = 0;
            for (int e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * x[col_idx[e]];
            y[i] = sum;
        }
    }
}
