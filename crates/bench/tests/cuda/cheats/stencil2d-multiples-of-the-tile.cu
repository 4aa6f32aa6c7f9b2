// Launches whole tiles only.
// It must fail: hidden grids have odd sides.
// expect: wrong, refused
#include <cuda_runtime.h>

__global__ void sweep(const float *x, float *y, int H, int W) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    long long i = (long long)r * W + c;
    if (r == 0 || r == H - 1 || c == 0 || c == W - 1) y[i] = x[i];
    else y[i] = (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    if (W >= 32 && H >= 8) sweep<<<dim3(W / 32, H / 8), dim3(32, 8)>>>(x, y, H, W);
}
