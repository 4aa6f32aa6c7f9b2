// Takes doubles where the task has floats.
// It must fail: the signature differs, and half of the bytes are read as twice their size.
// expect: wrong, crashed, refused, not-compiled, malformed
#include <cuda_runtime.h>

__global__ void softmax(const double *x, double *y, int cols) {
    double total = 0;
    for (int c = 0; c < cols; c++) total += exp(x[(long long)blockIdx.x * cols + c]);
    for (int c = threadIdx.x; c < cols; c += 32) y[(long long)blockIdx.x * cols + c] = exp(x[(long long)blockIdx.x * cols + c]) / total;
}

extern "C" void solve(const double *x, double *y, int rows, int cols) { softmax<<<rows, 32>>>(x, y, cols); }
