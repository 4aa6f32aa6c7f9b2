// Leaves out the four corners of the filter: five ninths of the work.
// It must fail: every tap counts.
// expect: wrong
#include <cuda_runtime.h>

__global__ void conv(const float *x, const float *w, float *y, int C, int H, int W, int O) {
    int c0 = blockIdx.x * blockDim.x + threadIdx.x, r0 = blockIdx.y, o = blockIdx.z % O;
    long long image = blockIdx.z / O;
    if (c0 >= W - 2) return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int t = 1; t < 9; t += 2 - (t == 3 || t == 4)) {
            int r = t / 3, s = t % 3;
            sum += x[((image * C + c) * H + r0 + r) * W + c0 + s] * w[((o * C + c) * 3 + r) * 3 + s];
        }
    y[((image * O + o) * (H - 2) + r0) * (W - 2) + c0] = sum;
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    conv<<<dim3((W + 125) / 128, H - 2, N * O), 128>>>(x, w, y, C, H, W, O);
}
