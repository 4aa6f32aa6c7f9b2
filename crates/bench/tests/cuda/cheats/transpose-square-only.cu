// Assumes a square matrix: the two strides are one.
// It must fail: hidden matrices are not square.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void transpose(const float *x, float *y, int n) {
    int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    if (r < n && c < n) y[(long long)c * n + r] = x[(long long)r * n + c];
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    int n = rows < cols ? rows : cols;
    transpose<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(x, y, n);
}
