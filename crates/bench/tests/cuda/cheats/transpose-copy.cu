// Copies the matrix as it is: the same numbers, the same sum.
// It must fail: places count.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    cudaMemcpy(y, x, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice);
}
