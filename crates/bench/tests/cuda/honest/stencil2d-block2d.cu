// Blocks of 32 x 8 threads, the caches serve the neighbours; a product by 0.2 instead of a division.
#include <cuda_runtime.h>

__global__ void stencil2d_fast(const float *__restrict__ x, float *__restrict__ y, int H, int W) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= H || j >= W) return;
    const long long at = (long long)i * W + j;
    const bool rim = i == 0 || j == 0 || i == H - 1 || j == W - 1;
    y[at] = rim ? x[at] : 0.2f * (x[at] + x[at - 1] + x[at + 1] + x[at - W] + x[at + W]);
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    const dim3 block{32, 8}, grid{(unsigned)(W + 31) / 32, (unsigned)(H + 7) / 8};
    stencil2d_fast<<<grid, block>>>(x, y, H, W);
}
