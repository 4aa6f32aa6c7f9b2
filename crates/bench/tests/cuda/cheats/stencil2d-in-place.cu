// Copies the grid to the output and sweeps there: neighbours are old or new as it comes.
// It must fail: a sweep uses old values only.
// expect: wrong
#include <cuda_runtime.h>

__global__ void sweep(float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    if (i >= n) return;
    int r = (int)(i / W), c = (int)(i % W);
    if (r > 0 && r < H - 1 && c > 0 && c < W - 1) y[i] = (y[i] + y[i - 1] + y[i + 1] + y[i - W] + y[i + W]) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    cudaMemcpyAsync(y, x, (size_t)H * W * sizeof(float), cudaMemcpyDeviceToDevice);
    sweep<<<(unsigned)(((long long)H * W + 255) / 256), 256>>>(y, H, W);
}
