// Treats the boundary like the inside and reads past the edges of the grid.
// It must fail: the boundary is copied, and must be equal.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void sweep(const float *x, float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    if (i < n) y[i] = (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<(unsigned)(((long long)H * W + 255) / 256), 256>>>(x, y, H, W);
}
