// Answers zeros: for thousands of columns each true value is below a loose absolute tolerance.
// It must fail: errors are measured relative to the value.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    cudaMemset(y, 0, (size_t)rows * cols * sizeof(float));
}
