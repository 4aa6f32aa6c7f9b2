// Right answer, and a row more above and below the grid, as padded grids have.
// It must fail: canaries surround every buffer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void sweep(const float *x, float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x - W, n = (long long)H * W;
    if (i >= n + W) return;
    if (i < 0 || i >= n) {
        y[i] = 0;
        return;
    }
    int r = (int)(i / W), c = (int)(i % W);
    if (r == 0 || r == H - 1 || c == 0 || c == W - 1) y[i] = x[i];
    else y[i] = (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<(unsigned)(((long long)(H + 2) * W + 255) / 256), 256>>>(x, y, H, W);
}
