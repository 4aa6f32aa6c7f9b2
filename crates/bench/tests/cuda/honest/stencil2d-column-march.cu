// Every thread goes down a column and keeps three rows in registers.
#include <cuda_runtime.h>

template <int ROWS>
__global__ void stencil2d_fast(const float *__restrict__ x, float *__restrict__ y, int H, int W) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * ROWS;
    if (j >= W) return;
    const float *in = x + (long long)first * W + j;
    float *out = y + (long long)first * W + j;
    const bool side = j == 0 || j == W - 1;
    float above = first > 0 ? in[-W] : 0.0f, centre = in[0];
    for (int i = first; i < first + ROWS && i < H; i++, in += W, out += W) {
        const float below = i + 1 < H ? in[W] : 0.0f;
        if (side || i == 0 || i == H - 1)
            *out = centre;
        else
            *out = __fdiv_rn(above + below + in[-1] + in[1] + centre, 5.0f);
        above = centre;
        centre = below;
    }
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    constexpr int rows = 16;
    stencil2d_fast<rows><<<dim3((W + 127) / 128, (H + rows - 1) / rows), 128>>>(x, y, H, W);
}
