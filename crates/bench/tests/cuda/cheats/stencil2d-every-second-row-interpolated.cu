// Computes every second row and takes the mean of the neighbours for the others.
// It must fail: random grids are not smooth.
// expect: wrong
#include <cuda_runtime.h>

__device__ float cell(const float *x, long long r, long long c, int H, int W) {
    long long i = r * W + c;
    if (r == 0 || r == H - 1 || c == 0 || c == W - 1) return x[i];
    return (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
}

__global__ void sweep(const float *x, float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    if (i >= n) return;
    long long r = i / W, c = i % W;
    if (r % 2 == 0 || r >= H - 2) y[i] = cell(x, r, c, H, W);
    else y[i] = 0.5f * (cell(x, r - 1, c, H, W) + cell(x, r + 1, c, H, W));
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<(unsigned)(((long long)H * W + 255) / 256), 256>>>(x, y, H, W);
}
