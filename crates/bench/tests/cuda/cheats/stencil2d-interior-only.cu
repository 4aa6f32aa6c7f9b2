// Computes the inside and leaves the boundary as it was.
// It must fail: the boundary is poison.
// expect: wrong
#include <cuda_runtime.h>

__global__ void sweep(const float *x, float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    if (i >= n) return;
    int r = (int)(i / W), c = (int)(i % W);
    if (r > 0 && r < H - 1 && c > 0 && c < W - 1) y[i] = (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<(unsigned)(((long long)H * W + 255) / 256), 256>>>(x, y, H, W);
}
