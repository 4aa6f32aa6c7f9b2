// Four cells a thread where W is a multiple of four; rows at the edge are copied as they are.
#include <cuda_runtime.h>

__device__ __forceinline__ float fifth(float a, float b, float c, float d, float e) { return (a + b + c + d + e) * 0.2f; }

__global__ void stencil2d_quads(const float *__restrict__ x, float *__restrict__ y, int H, int W) {
    const int j = (blockIdx.x * blockDim.x + threadIdx.x) * 4, i = blockIdx.y;
    if (j >= W) return;
    const size_t at = (size_t)i * W + j;
    float4 v = *(const float4 *)(x + at);
    if (i > 0 && i < H - 1) {
        const float4 up = *(const float4 *)(x + at - W), down = *(const float4 *)(x + at + W), c = v;
        if (j > 0) v.x = fifth(c.x, x[at - 1], c.y, up.x, down.x);
        v.y = fifth(c.y, c.x, c.z, up.y, down.y);
        v.z = fifth(c.z, c.y, c.w, up.z, down.z);
        if (j + 4 < W) v.w = fifth(c.w, c.z, x[at + 4], up.w, down.w);
    }
    *(float4 *)(y + at) = v;
}

__global__ void stencil2d_cells(const float *__restrict__ x, float *__restrict__ y, int H, int W) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= W) return;
    const size_t at = (size_t)i * W + j;
    const bool inner = i > 0 && i < H - 1 && j > 0 && j < W - 1;
    y[at] = inner ? fifth(x[at], x[at - 1], x[at + 1], x[at - W], x[at + W]) : x[at];
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    void (*kernel)(const float *, float *, int, int) = W % 4 == 0 ? stencil2d_quads : stencil2d_cells;
    const int threads = W % 4 == 0 ? W / 4 : W;
    kernel<<<dim3((threads + 127) / 128, H), 128>>>(x, y, H, W);
}
