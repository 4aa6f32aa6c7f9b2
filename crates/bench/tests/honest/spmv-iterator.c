// honest: an iterator in a structure, and a macro that makes a loop of it
// task: spmv
// stage: 1

#include <stdbool.h>

struct entries { const int *column; const double *value; int left; };

static inline bool advance(struct entries *e, double *value, int *column) {
    if (e->left-- == 0) return false;
    *value = *e->value++, *column = *e->column++;
    return true;
}

#define EACH_ENTRY(row) \
    for (struct entries it = {col_idx + row_ptr[row], values + row_ptr[row], row_ptr[(row) + 1] - row_ptr[row]}; advance(&it, &v, &c);)

void spmv(int *row_ptr, int *col_idx, double *values, double *x, double *y, int M) {
    double v;
    for (int c, row = 0; row < M; row++) {
        y[row] = 0;
        EACH_ENTRY (row) { y[row] += v * x[c]; }
    }
}
