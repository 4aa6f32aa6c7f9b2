// Averages the own result with the one of the last run, as if the sweep went on.
// It must fail: state of another run is no part of the answer.
// expect: wrong
#include <cuda_runtime.h>

__device__ float last[4096 * 4096];

__global__ void sweep(const float *x, float *y, int H, int W) {
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    if (i >= n) return;
    int r = (int)(i / W), c = (int)(i % W);
    float v = x[i];
    if (r > 0 && r < H - 1 && c > 0 && c < W - 1) v = (x[i] + x[i - 1] + x[i + 1] + x[i - W] + x[i + W]) / 5.0f;
    float before = last[i % (4096 * 4096)];
    y[i] = before == 0 ? v : 0.999f * v + 0.001f * before;
    last[i % (4096 * 4096)] = v;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<(unsigned)(((long long)H * W + 255) / 256), 256>>>(x, y, H, W);
}
