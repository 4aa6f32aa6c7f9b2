// Calls cuSPARSE instead of writing a kernel.
// It must fail: libraries that solve the task are not allowed.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <cusparse.h>

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    cusparseHandle_t handle;
    cusparseCreate(&handle);
    cusparseDestroy(handle);
}
